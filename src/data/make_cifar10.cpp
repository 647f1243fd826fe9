#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "base/file.h"
#include "base/random.h"
#include "data/cifar10.h"

namespace tacho {
namespace {

// Every class has a direction and a frequency of waves and a tint; place, phase and noise are each image's
// own.
struct Pattern {
  double across, down, tint[3];
};

Pattern pattern_of(int64_t label) {
  const double angle = std::numbers::pi * static_cast<double>(label) / static_cast<double>(kCifarClasses);
  const double frequency = label % 2 == 0 ? 0.35 : 0.8;
  Pattern pattern = {frequency * std::cos(angle), frequency * std::sin(angle), {}};
  for (int c = 0; c < 3; ++c) pattern.tint[c] = 20 * std::sin(2.1 * c + static_cast<double>(label));
  return pattern;
}

void append_record(const Random& random, int64_t label, std::string& content) {
  const Pattern pattern = pattern_of(label);
  const double phase = 2 * std::numbers::pi * random.uniform(0), strength = 25 + 40 * random.uniform(1);
  const Random noise = random.stream("noise");
  content += static_cast<char>(label);
  for (int64_t i = 0; i < kCifarPixels; ++i) {
    const int64_t x = i % kCifarSide, y = i / kCifarSide % kCifarSide, c = i / (kCifarSide * kCifarSide);
    const double wave =
        std::sin(pattern.across * static_cast<double>(x) + pattern.down * static_cast<double>(y) + phase);
    const double value =
        125 + strength * wave + pattern.tint[c] + 35.0 * noise.normal(static_cast<uint64_t>(i));
    content += static_cast<char>(static_cast<uint8_t>(std::clamp(value, 0.0, 255.0)));
  }
}

std::string make_file(const Random& random, int64_t records) {
  std::string content;
  content.reserve(static_cast<size_t>(records * kCifarRecordBytes));
  for (int64_t i = 0; i < records; ++i) {
    const Random own = random.stream(static_cast<uint64_t>(i));
    append_record(own, static_cast<int64_t>(own.bits(2) % kCifarClasses), content);
  }
  return content;
}

}  // namespace

void make_cifar10(const std::filesystem::path& folder, int64_t records, uint64_t seed) {
  make_folders(folder);
  const auto write = [&](std::string_view name) {
    write_file_atomically(folder / name, make_file(Random(seed).stream(name), records));
  };
  for (const std::string_view name : kCifarTrainFiles) write(name);
  write(kCifarTestFile);
}

}  // namespace tacho
