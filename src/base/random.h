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

  uint64_t bits(uint64_t index) const;
  // In [0, 1).
  float uniform(uint64_t index) const;
  // Mean 0, standard deviation 1.
  float normal(uint64_t index) const;

  void fill_uniform(std::span<float> values, float low, float high) const;
  void fill_normal(std::span<float> values, float mean, float deviation) const;
  // Normal values outside [low, high] are drawn again.
  void fill_truncated_normal(std::span<float> values, float deviation, float low, float high) const;

 private:
  uint64_t seed_;
};

}  // namespace tacho
