#pragma once

#include "kernels/winograd/tiling.h"

namespace tacho::winograd {

inline constexpr int kPlanePoints = kPoints * kPoints;

constexpr int points(const Convolution& convolution) {
  return convolution.kernel_depth == 1 ? kPlanePoints : kPlanePoints * kPoints;
}
constexpr int64_t taps(const Convolution& convolution) { return int64_t{9} * convolution.kernel_depth; }

// An odd number of cache lines: strides with large powers of two in them would crowd into few sets of a
// cache.
constexpr int64_t odd_lines(int64_t floats) { return (divide_up(floats, kLineFloats) | 1) * kLineFloats; }

// Packed weights: [point][output slice][input channel][16].
struct PackedLayout {
  explicit PackedLayout(const Convolution& convolution)
      : slices(divide_up(convolution.out_channels, kSliceChannels)),
        slice_stride(convolution.in_channels * kSliceChannels),
        point_stride(slices * slice_stride) {}

  int64_t slices, slice_stride, point_stride;
};

inline ActivationLayout src_layout(const Convolution& convolution) {
  return {convolution.in_channels, convolution.extents, convolution.src_batch_stride};
}
inline ActivationLayout dst_layout(const Convolution& convolution) {
  return {convolution.out_channels, dst_extents(convolution), convolution.dst_batch_stride};
}
inline ActivationLayout pooled_layout(const Convolution& convolution) {
  return {convolution.out_channels, pooled_extents(convolution), convolution.dst_batch_stride};
}

}  // namespace tacho::winograd
