#include "kernels/blocked/transpose_avx2.h"
#include "kernels/direct/avx2.h"
#include "kernels/direct/layout.h"

namespace tacho::direct {
namespace {

// The weights of 8 channels that are read and 16 that are written, as they lie in plain weights.
struct Block {
  const float* from;
  int64_t read_stride, written_stride;
  int64_t taps;
};

// The columns of 8 rows, as vectors.
template<typename Visit>
void for_each_column(const float* rows, int64_t row_stride, int64_t columns, const Visit& visit) {
  if (row_stride == 1 && columns == 1) return visit(0, _mm256_loadu_ps(rows));
  int64_t column = 0;
  for (; column + kLanes <= columns; column += kLanes) {
    __m256 square[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) square[i] = _mm256_loadu_ps(rows + i * row_stride + column);
    blocked::transpose_8x8(square);
    for (int64_t i = 0; i < kLanes; ++i) visit(column + i, square[i]);
  }
  for (; column < columns; ++column) {
    const auto value = [&](int64_t row) { return rows[row * row_stride + column]; };
    visit(column,
          _mm256_setr_ps(value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7)));
  }
}

// Of 8 written channels, to lines of 16: channels that are read may lie side by side, and then all taps of
// them do.
void pack_half(const Block& block, float* to) {
  const bool reads_adjoin = block.read_stride == block.taps;
  const int64_t rows = reads_adjoin ? 1 : kLanes, columns = (reads_adjoin ? kLanes : 1) * block.taps;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t tap = 0;
    float* line = to + row * kSliceChannels;
    for_each_column(block.from + row * block.read_stride, block.written_stride, columns,
                    [&](int64_t, __m256 values) {
                      _mm256_store_ps(line + tap * kTapFloats, values);
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

void pack_weights_f32_avx2(const Convolution& convolution, Direction direction, const float* weights,
                           float* packed, int threads) {
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
      // 8 rows of weights at a time: 16 that lie a power of two apart would push each other out of L1.
      const int64_t whole = writes == kSliceChannels ? read + (end - read) / kLanes * kLanes : read;
      for (int64_t half = 0; half < kSliceChannels; half += kLanes) {
        for (int64_t channel = read; channel < whole; channel += kLanes)
          pack_half(block_at(channel, written + half), target(channel) + half);
      }
      for (int64_t channel = whole; channel < end; channel += kLanes)
        pack_rest(block_at(channel, written), std::min(kLanes, end - channel), writes, target(channel));
    }
  }
}

}  // namespace tacho::direct
