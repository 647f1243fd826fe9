#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tacho {

// Random numbers as a pure function of (seed, index): the same on every machine, thread count and order.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(seed) {}

  // An independent generator for one purpose, such as one parameter's initial values.
  Random stream(std::string_view name) const;
  Random stream(uint64_t number) const;

  uint64_t bits(uint64_t index) const { return mix(mix(seed_) + (index + 1) * kGolden); }
  // In [0, 1).
  float uniform(uint64_t index) const { return static_cast<float>(bits(index) >> 40) * 0x1p-24f; }
  // Mean 0, standard deviation 1.
  float normal(uint64_t index) const;

  void fill_uniform(std::span<float> values, float low, float high) const;
  void fill_normal(std::span<float> values, float mean, float deviation) const;
  // Normal values outside [low, high] are drawn again.
  void fill_truncated_normal(std::span<float> values, float deviation, float low, float high) const;

 private:
  static constexpr uint64_t kGolden = 0x9e3779b97f4a7c15u;

  // The finalizer of splitmix64 (Steele, Lea, Flood 2014): a bijection that mixes all 64 bits.
  static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }

  uint64_t seed_;
};

}  // namespace tacho
