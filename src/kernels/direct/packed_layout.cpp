#include "kernels/direct/packed_layout.h"

namespace tacho::direct::TACHO_ISA {
namespace {

// Read channels times taps: with 16 written each, most of an L1 cache; with 64, less than half of an L2
// cache, from which they come as fast.
constexpr int64_t kChunkSteps = kLanes == 16 ? 1600 : 400;

}  // namespace

PackedLayout::PackedLayout(const Convolution& convolution, Direction direction)
    : read_channels(direction == Direction::forward ? convolution.in_channels : convolution.out_channels),
      written_channels(direction == Direction::forward ? convolution.out_channels : convolution.in_channels),
      blocks(divide_up(read_channels, kLanes)),
      slices(divide_up(written_channels, kSliceChannels)),
      block_stride(taps(convolution) * kTapFloats) {
  const int64_t largest = std::max<int64_t>(1, kChunkSteps / (taps(convolution) * kLanes));
  chunks = divide_up(blocks, largest);
}

}  // namespace tacho::direct::TACHO_ISA
