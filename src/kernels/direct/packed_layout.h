#pragma once

#include <algorithm>

#include "kernels/direct/layout.h"
#include "kernels/instruction_set.h"

namespace tacho::direct::TACHO_ISA {

using namespace blocked::TACHO_ISA;

inline constexpr int64_t kTapFloats = kLanes * kSliceChannels;  // weights of one tap, read block and slice

// Packed weights: [chunk of read blocks][slice of written channels][read block][tap][kLanes][kSliceChannels].
// One chunk's weights of one slice stay in L1, or near it in L2, while they are multiplied with a panel of
// positions.
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

}  // namespace tacho::direct::TACHO_ISA
