#include "base/random.h"

#include "base/text.h"

#include <cmath>
#include <numbers>

namespace tacho {
namespace {

// The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection that mixes all 64 bits.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Below this, waking a team costs more than it saves.
constexpr size_t kWorthThreads = 1 << 15;

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

}  // namespace

Random Random::stream(uint64_t number) const { return Random(mix(seed_ ^ mix(number + kGolden))); }

Random Random::stream(std::string_view name) const { return stream(stable_hash(name)); }

uint64_t Random::bits(uint64_t index) const { return mix(mix(seed_) + (index + 1) * kGolden); }

float Random::uniform(uint64_t index) const { return static_cast<float>(bits(index) >> 40) * 0x1p-24f; }

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
