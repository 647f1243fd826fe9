#pragma once

#include <array>
#include <cstdint>

// nC[d]hw8c, as all kernels on blocks of channels see it.
namespace tacho::blocked {

// Channels of a block, floats of a vector; the channels that fill up the last block are zero.
inline constexpr int64_t kLanes = 8;
inline constexpr int64_t kLineFloats = 16;
inline constexpr int64_t kSliceChannels = 16;  // output channels that convolutions multiply at once

// Channels whose products the matrix kernel of weight gradients sums at once, and vectors of others.
inline constexpr int64_t kSumRows = 4, kSumVectors = 3;

constexpr int64_t divide_up(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }
constexpr int64_t channel_blocks(int64_t channels) { return divide_up(channels, kLanes); }

// Where the 8 channels of a block begin.
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

}  // namespace tacho::blocked
