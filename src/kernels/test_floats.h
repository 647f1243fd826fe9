#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "base/buffer.h"
#include "base/random.h"
#include "kernels/blocked/layout.h"

// What tests of kernels share.
namespace tacho {

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

// An activation in blocks: the same numbers whatever the width of a block, and zeros in the channels that
// fill up the last one, as kernels want them.
inline Floats random_activation(int64_t batch, const blocked::ActivationLayout& layout, int64_t channels,
                                uint64_t seed) {
  const blocked::ActivationLayout drawn(channels, layout.extents, 0, 8);
  const Floats numbers = random_floats(batch * drawn.batch_stride, seed);
  Floats values(batch * layout.batch_stride);
  for (int64_t image = 0; image < batch; ++image) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      const auto offset = [&](const blocked::ActivationLayout& of, int64_t cell) {
        return image * of.batch_stride + channel / of.lanes * of.block_stride + cell * of.lanes +
               channel % of.lanes;
      };
      for (int64_t cell = 0; cell < layout.block_stride / layout.lanes; ++cell)
        values[offset(layout, cell)] = numbers[offset(drawn, cell)];
    }
  }
  return values;
}

}  // namespace tacho
