#pragma once

#include <array>

#include "kernels/split.h"

// nC[d]hw8c or nC[d]hw16c, as all kernels on blocks of channels see it.
namespace tacho::blocked {

inline constexpr int64_t kLineFloats = 16;
inline constexpr int64_t kRowsAtOnce = 6;  // tiles or positions that convolutions multiply at once

// Floats between the workspaces of two threads. Zen 5 fetches ahead along strides of 60 KiB and more, up to 1
// MiB away: what it took there from another thread that was about to write it cost a fifth of the time.
inline constexpr int64_t kWorkspaceGap = 256 << 10;

// Where the channels of a block begin. Those that fill up the last one are zero.
struct ActivationLayout {
  ActivationLayout(int64_t channels, std::array<int64_t, 3> extents_of, int64_t batch_stride_or_dense,
                   int64_t lanes_of)
      : extents(extents_of),
        lanes(lanes_of),
        blocks(divide_up(channels, lanes)),
        plane_stride(extents[1] * extents[2] * lanes),
        block_stride(extents[0] * plane_stride),
        batch_stride(batch_stride_or_dense != 0 ? batch_stride_or_dense : blocks * block_stride) {}

  std::array<int64_t, 3> extents;
  int64_t lanes;  // channels of a block
  int64_t blocks, plane_stride, block_stride, batch_stride;
};

}  // namespace tacho::blocked
