#include "kernels/blocked/transpose.h"
#include "kernels/direct/packed_layout.h"
#include "kernels/direct/stages.h"

namespace tacho::direct::TACHO_ISA {
namespace {

// The weights of a block of channels that are read and a slice that is written, as they lie in plain weights.
struct Block {
  const float* from;
  int64_t read_stride, written_stride;
  int64_t taps;
};

// The columns of kLanes rows, as vectors.
template<typename Visit>
void for_each_column(const float* rows, int64_t row_stride, int64_t columns, const Visit& visit) {
  if (row_stride == 1 && columns == 1) return visit(0, load_unaligned(rows));
  int64_t column = 0;
  for (; column + kSquare <= columns; column += kSquare) {
    Vector square[kSquare];
    load_columns([&](int64_t row) { return rows + row * row_stride + column; }, square);
    for (int64_t i = 0; i < kSquare; ++i) visit(column + i, square[i]);
  }
  for (; column < columns; ++column)
    visit(column, of_lanes([&](int64_t row) { return rows[row * row_stride + column]; }));
}

// Of a block of written channels, to lines of a slice: channels that are read may lie side by side, and then
// all taps of them do.
void pack_vector(const Block& block, float* to) {
  const bool reads_adjoin = block.read_stride == block.taps;
  const int64_t rows = reads_adjoin ? 1 : kLanes, columns = (reads_adjoin ? kLanes : 1) * block.taps;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t tap = 0;
    float* line = to + row * kSliceChannels;
    for_each_column(block.from + row * block.read_stride, block.written_stride, columns,
                    [&](int64_t, Vector values) {
                      store(line + tap * kTapFloats, values);
                      if (++tap < block.taps) return;
                      tap = 0;
                      line += kSliceChannels;
                    });
  }
}

// Of the last ones, zeros for those that are missing.
void pack_rest(const Block& block, int64_t reads, int64_t writes, float* to) {
  std::fill_n(to, block.taps * kTapFloats, 0.0f);
  for (int64_t tap = 0; tap < block.taps; ++tap) {
    for (int64_t read = 0; read < reads; ++read) {
      for (int64_t i = 0; i < writes; ++i) {
        to[tap * kTapFloats + read * kSliceChannels + i] =
            block.from[read * block.read_stride + i * block.written_stride + tap];
      }
    }
  }
}

}  // namespace

void pack_weights(const Convolution& convolution, Direction direction, const float* weights, float* packed,
                  int threads) {
  const PackedLayout layout(convolution, direction);
  const int64_t pair = taps(convolution), row = convolution.in_channels * pair;
  const bool forward = direction == Direction::forward;
  const int64_t read_stride = forward ? pair : row, written_stride = forward ? row : pair;
  const auto block_at = [&](int64_t read, int64_t written) {
    return Block{weights + read * read_stride + written * written_stride, read_stride, written_stride, pair};
  };
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t chunk = 0; chunk < layout.chunks; ++chunk) {
    for (int64_t slice = 0; slice < layout.slices; ++slice) {
      const int64_t written = slice * kSliceChannels, read = layout.chunk_begin(chunk) * kLanes;
      const int64_t writes = std::min(kSliceChannels, layout.written_channels - written);
      const int64_t end = std::min(read + layout.chunk_blocks(chunk) * kLanes, layout.read_channels);
      float* const to = packed + layout.slice_offset(chunk, slice);
      const auto target = [&](int64_t channel) {
        return to + (channel - read) / kLanes * layout.block_stride;
      };
      // A block of rows at a time: more that lie a power of two apart would push each other out of L1.
      const int64_t whole = writes == kSliceChannels ? read + (end - read) / kLanes * kLanes : read;
      for (int64_t lane = 0; lane < kSliceChannels; lane += kLanes) {
        for (int64_t channel = read; channel < whole; channel += kLanes)
          pack_vector(block_at(channel, written + lane), target(channel) + lane);
      }
      for (int64_t channel = whole; channel < end; channel += kLanes)
        pack_rest(block_at(channel, written), std::min(kLanes, end - channel), writes, target(channel));
    }
  }
}

}  // namespace tacho::direct::TACHO_ISA
