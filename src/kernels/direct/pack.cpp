#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

constexpr int64_t kChunkSteps = 400;  // read channels times taps: with 16 written each, most of an L1 cache

}  // namespace

PackedLayout::PackedLayout(const Convolution& convolution, Direction direction)
    : read_channels(direction == Direction::forward ? convolution.in_channels : convolution.out_channels),
      written_channels(direction == Direction::forward ? convolution.out_channels : convolution.in_channels),
      blocks(channel_blocks(read_channels)),
      slices(divide_up(written_channels, kSliceChannels)),
      block_stride(taps(convolution) * kTapFloats) {
  const int64_t largest = std::max<int64_t>(1, kChunkSteps / (taps(convolution) * kLanes));
  chunks = divide_up(blocks, largest);
}

void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads) {
  const PackedLayout layout(convolution, direction);
  const int64_t pair = taps(convolution), row = convolution.in_channels * pair;
  const bool forward = direction == Direction::forward;
  const int64_t read_stride = forward ? pair : row, written_stride = forward ? row : pair;
  const auto pack_block = [&](int64_t block, int64_t slice, float* to) {
    const int64_t first_read = block * kLanes, first_written = slice * kSliceChannels;
    const int64_t reads = std::min(kLanes, layout.read_channels - first_read);
    const int64_t writes = std::min(kSliceChannels, layout.written_channels - first_written);
    if (reads < kLanes || writes < kSliceChannels) std::fill_n(to, pair * kTapFloats, 0.0f);
    const float* from = weights + first_read * read_stride + first_written * written_stride;
    for (int64_t tap = 0; tap < pair; ++tap) {
      for (int64_t read = 0; read < reads; ++read) {
        float* const line = to + tap * kTapFloats + read * kSliceChannels;
        for (int64_t i = 0; i < writes; ++i) line[i] = from[read * read_stride + i * written_stride + tap];
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
