#pragma once

#include "kernels/winograd/tiling.h"

namespace tacho::winograd {

inline constexpr int64_t kSliceChannels = 16;  // output channels the matrix kernel multiplies at once
inline constexpr int64_t kLineFloats = 16;
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

// One blocked activation: where the 8 channels of a block begin.
struct ActivationLayout {
  ActivationLayout(int64_t channels, std::array<int64_t, 3> extents_of, int64_t batch_stride_or_dense)
      : extents(extents_of),
        blocks(channel_blocks(channels)),
        plane_stride(extents[1] * extents[2] * kLanes),
        block_stride(extents[0] * plane_stride),
        batch_stride(batch_stride_or_dense != 0 ? batch_stride_or_dense : blocks * block_stride) {}

  std::array<int64_t, 3> extents;
  int64_t blocks, plane_stride, block_stride, batch_stride;
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
