#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

constexpr int64_t kChunkSteps = 400;  // input channels times taps: with 16 outputs each, most of an L1 cache

}  // namespace

PackedLayout::PackedLayout(const Convolution& convolution)
    : blocks(channel_blocks(convolution.in_channels)),
      slices(divide_up(convolution.out_channels, kSliceChannels)),
      block_stride(taps(convolution) * kTapFloats) {
  const int64_t largest = std::max<int64_t>(1, kChunkSteps / (taps(convolution) * kLanes));
  chunks = divide_up(blocks, largest);
}

void pack_weights(const Convolution& convolution, const float* weights, float* packed, int threads) {
  const PackedLayout layout(convolution);
  const int64_t pair = taps(convolution), in_channels = convolution.in_channels;
  const auto pack_block = [&](int64_t block, int64_t slice, float* to) {
    for (int64_t tap = 0; tap < pair; ++tap) {
      for (int64_t in = block * kLanes; in < (block + 1) * kLanes; ++in) {
        for (int64_t out = slice * kSliceChannels; out < (slice + 1) * kSliceChannels; ++out) {
          const bool exists = in < in_channels && out < convolution.out_channels;
          *to++ = exists ? weights[(out * in_channels + in) * pair + tap] : 0;
        }
      }
    }
  };
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    for (int64_t slice = 0; slice < layout.slices; ++slice) {
      float* to = packed + layout.slice_offset(chunk, slice);
      for (int64_t block = 0; block < layout.chunk_blocks(chunk); ++block, to += layout.block_stride) {
        pack_block(layout.chunk_begin(chunk) + block, slice, to);
      }
    }
  }
}

}  // namespace tacho::direct
