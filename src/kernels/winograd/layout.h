#pragma once

#include "kernels/winograd/tiling.h"

namespace tacho::winograd {

inline constexpr int kPlanePoints = kPoints * kPoints;

constexpr int planes(const Convolution& convolution) { return convolution.kernel_depth == 1 ? 1 : kPoints; }
constexpr int points(const Convolution& convolution) { return kPlanePoints * planes(convolution); }
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

// What is packed in one go: of one plane of points and 16 output channels, some input channels.
struct WeightChunk {
  int plane;
  int64_t slice;
  int64_t begin, end;  // input channels
};

inline constexpr int64_t kChunkInputs = 16;

inline int64_t weight_chunks(const Convolution& convolution) {
  return divide_up(convolution.in_channels, kChunkInputs);
}
inline WeightChunk weight_chunk(const Convolution& convolution, int plane, int64_t slice, int64_t index) {
  const int64_t begin = index * kChunkInputs;
  return {plane, slice, begin, std::min(begin + kChunkInputs, convolution.in_channels)};
}

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
