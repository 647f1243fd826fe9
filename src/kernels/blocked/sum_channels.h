#pragma once

#include "kernels/blocked/layout.h"
#include "kernels/blocked/plane_parts.h"
#include "kernels/instruction_set.h"

// Sums of each channel over a batch: see sum_channels_kernel.h.
namespace tacho::blocked::TACHO_ISA {

inline constexpr int64_t kSumChunk = 4096 * kLanes;  // floats of a plane that are added up as floats

// How they are cut: all chunks of a block of channels, one image and depth after the other, into parts.
struct ChannelSums {
  constexpr ChannelSums(const ActivationLayout& layout, int64_t batch)
      : chunks(divide_up(layout.plane_stride, kSumChunk)),
        parts(layout.blocks, batch * layout.extents[0] * chunks, 1) {}

  int64_t chunks;  // of the plane of one image and depth
  PlaneParts parts;
};

// Room for the sums of the parts.
int64_t channel_sums_floats(const ActivationLayout& layout, int64_t batch);
Loop sum_channels_loop(const ActivationLayout& layout, int64_t batch);

}  // namespace tacho::blocked::TACHO_ISA
