#include "base/random.h"

#include "base/text.h"

#include <cmath>
#include <numbers>

namespace tacho {
namespace {

// Below this, waking a team costs more than it saves.
constexpr size_t kWorthThreads = 1 << 15;

}  // namespace

Random Random::stream(uint64_t number) const { return Random(mix(seed_ ^ mix(number + kGolden))); }

Random Random::stream(std::string_view name) const { return stream(stable_hash(name)); }

float Random::normal(uint64_t index) const {
  // Box-Muller on the two halves of one draw; 1 - u keeps the logarithm finite.
  const uint64_t draw = bits(index);
  const float u = 1.0f - static_cast<float>(draw >> 40) * 0x1p-24f;
  const float v = static_cast<float>((draw >> 8) & 0xffffff) * 0x1p-24f;
  return std::sqrt(-2.0f * std::log(u)) * std::cos(2.0f * std::numbers::pi_v<float> * v);
}

void Random::fill_uniform(std::span<float> values, float low, float high) const {
#pragma omp parallel for schedule(static) if (values.size() > kWorthThreads)
  for (size_t i = 0; i < values.size(); ++i) values[i] = low + (high - low) * uniform(i);
}

void Random::fill_normal(std::span<float> values, float mean, float deviation) const {
#pragma omp parallel for schedule(static) if (values.size() > kWorthThreads)
  for (size_t i = 0; i < values.size(); ++i) values[i] = mean + deviation * normal(i);
}

void Random::fill_truncated_normal(std::span<float> values, float deviation, float low, float high) const {
#pragma omp parallel for schedule(static) if (values.size() > kWorthThreads)
  for (size_t i = 0; i < values.size(); ++i) {
    const Random draws = stream(i);
    uint64_t attempt = 0;
    do values[i] = deviation * draws.normal(attempt++);
    while (values[i] < low || values[i] > high);
  }
}

}  // namespace tacho
