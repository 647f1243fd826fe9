#pragma once

#include <span>
#include <vector>

#include "results/volume_slice.h"
#include "volume/box.h"

namespace tacho {

// A part of a section has at most so many voxels along each side.
inline constexpr int64_t kSliceSide = 256;

// What of a block is shown: the middle of its middle section.
Box pictured(const Box& block);

// Pictures of that part: the input, from its darkest to its lightest voxel, and of the result (channels x
// block, from 0 to 1) the least and the greatest over the channels. Of affinities the least is dark, of
// boundaries the greatest is light where cells end. `input` covers `input_box`, which holds the block.
std::vector<VolumeSlice> block_slices(const Box& block, const Box& input_box, std::span<const float> input,
                                      std::span<const float> result);

}  // namespace tacho
