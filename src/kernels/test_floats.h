#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/buffer.h"
#include "base/cpu.h"
#include "base/random.h"

// What tests of kernels share.
namespace tacho {

inline bool has_avx2() { return widest_instruction_set() >= InstructionSet::avx2; }

// Aligned floats.
class Floats {
 public:
  explicit Floats(int64_t count, float value = 0)
      : count_(count), buffer_(static_cast<size_t>(count) * sizeof(float)) {
    std::fill_n(data(), count, value);
  }
  float* data() { return reinterpret_cast<float*>(buffer_.data()); }
  const float* data() const { return reinterpret_cast<const float*>(buffer_.data()); }
  int64_t size() const { return count_; }
  float& operator[](int64_t i) { return data()[i]; }
  float operator[](int64_t i) const { return data()[i]; }

 private:
  int64_t count_;
  Buffer buffer_;
};

inline bool same(const Floats& a, const Floats& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<size_t>(a.size()) * sizeof(float)) == 0;
}

inline Floats random_floats(int64_t count, uint64_t seed) {
  Floats values(count);
  Random(seed).fill_normal({values.data(), static_cast<size_t>(count)}, 0, 1);
  return values;
}

}  // namespace tacho
