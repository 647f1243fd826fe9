#pragma once

#include "kernels/blocked/blocked.h"

namespace tacho::batch_norm {

// What a channel's factors take, or the joining of its sums beside these, in sums.
inline constexpr int64_t kSumsPerChannel = 10;

// Whether a loop over channels, each with so many sums to join, is worth sharing: it takes longer than to
// start threads.
constexpr bool shares_channels(const blocked::Sweep& sweep, int64_t sums) {
  return sweep.channels * (kSumsPerChannel + sums) >= (16 << 10);
}

// Sums of a channel that a sweep leaves, one for each image and part of a plane.
constexpr int64_t sums_of_channel(const blocked::Sweep& sweep) {
  return sweep.batch * blocked::parts_of(sweep).parts;
}

// Whether each thread takes blocks of channels of its own through all stages of a batch norm, not all threads
// parts of all blocks through one stage after the other.
inline bool takes_blocks_apart(const blocked::Sweep& sweep, int threads) {
  constexpr double kUneven = 1.15;  // times the ideal share of a thread
  return largest_share({.items = channel_blocks(sweep)}, threads) * threads <= kUneven;
}

}  // namespace tacho::batch_norm
