#pragma once

#include "kernels/instruction_set.h"
#include "kernels/winograd/layout.h"

namespace tacho::winograd::TACHO_ISA {

using namespace blocked::TACHO_ISA;

// Transformed inputs of a long kernel's segments are like more input channels: those of the first segment, up
// to a whole block, then those of the second.
class Reduction {
 public:
  explicit constexpr Reduction(const Convolution& convolution)
      : segment_blocks(divide_up(convolution.in_channels, kLanes)),
        in_channels_(convolution.in_channels),
        grid_(convolution),
        rows_are_long_(scheme(convolution, 1).segments() > 1) {
    segments = scheme(convolution, 1).segments() * scheme(convolution, 2).segments();
  }

  constexpr int64_t blocks() const { return segments * segment_blocks; }
  constexpr int64_t channels() const { return (segments - 1) * segment_blocks * kLanes + in_channels_; }
  constexpr int64_t channels_at(int point) const {
    return has_last_segment(point) ? channels() : in_channels_;
  }
  // It has no weight at infinity.
  constexpr bool has_last_segment(int point) const {
    return segments == 1 || (rows_are_long_ ? grid_.row(point) : grid_.column(point)) != 0;
  }

  int segments;
  int64_t segment_blocks;

 private:
  int64_t in_channels_;
  PointGrid grid_;
  bool rows_are_long_;
};

// Packed weights: [point][output slice][input channel of the reduction][kSliceChannels].
struct PackedLayout {
  explicit PackedLayout(const Convolution& convolution)
      : slices(divide_up(convolution.out_channels, kSliceChannels)),
        segment_stride(Reduction(convolution).segment_blocks * kLanes * kSliceChannels),
        slice_stride(Reduction(convolution).channels() * kSliceChannels),
        point_stride(slices * slice_stride),
        input_chunks(divide_up(convolution.in_channels, kInputsAtOnce)) {}

  int64_t slices, segment_stride, slice_stride, point_stride;
  int64_t input_chunks;  // that threads pack on their own, of each slice
};

}  // namespace tacho::winograd::TACHO_ISA
