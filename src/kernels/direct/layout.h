#pragma once

#include <algorithm>

#include "kernels/blocked/layout.h"
#include "kernels/direct/direct.h"

namespace tacho::direct {

using blocked::ActivationLayout;
using blocked::channel_blocks;
using blocked::divide_up;
using blocked::kLanes;
using blocked::kLineFloats;
using blocked::kSliceChannels;

inline constexpr int64_t kTapFloats = kLanes * kSliceChannels;  // weights of one tap, read block and slice

constexpr int64_t taps(const Convolution& convolution) {
  return convolution.kernel[0] * convolution.kernel[1] * convolution.kernel[2];
}

inline ActivationLayout src_layout(const Convolution& convolution) {
  return {convolution.in_channels, convolution.extents, convolution.src_batch_stride};
}
inline ActivationLayout dst_layout(const Convolution& convolution) {
  return {convolution.out_channels, dst_extents(convolution), convolution.dst_batch_stride};
}

// Packed weights: [chunk of read blocks][slice of written channels][read block][tap][8][16]. One chunk's
// weights of one slice stay in L1 while they are multiplied with a panel of positions.
struct PackedLayout {
  PackedLayout(const Convolution& convolution, Direction direction);

  int64_t chunk_begin(int64_t chunk) const { return blocks * chunk / chunks; }  // in read blocks
  int64_t chunk_blocks(int64_t chunk) const { return chunk_begin(chunk + 1) - chunk_begin(chunk); }
  int64_t largest_chunk() const { return divide_up(blocks, chunks); }
  int64_t slice_offset(int64_t chunk, int64_t slice) const {
    return (chunk_begin(chunk) * slices + chunk_blocks(chunk) * slice) * block_stride;
  }
  int64_t floats() const { return blocks * slices * block_stride; }

  int64_t read_channels, written_channels;
  int64_t blocks, slices, chunks;
  int64_t block_stride;  // of one read block in a slice
};

}  // namespace tacho::direct
