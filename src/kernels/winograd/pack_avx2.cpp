#include "kernels/winograd/avx2.h"
#include "kernels/winograd/layout.h"
#include "kernels/winograd/transform_avx2.h"
#include "kernels/winograd/transpose_avx2.h"

namespace tacho::winograd {
namespace {

struct Source {
  PlainWeights weights;
  int64_t out_channels;
};

// The taps of 8 output channels and one input channel: vector by tap.
template<int taps>
void load_taps(const Source& source, int64_t out, int64_t in, __m256* values) {
  alignas(32) static constexpr float kZeros[taps] = {};
  const auto& [data, out_stride, in_stride, flipped] = source.weights;
  const float* rows[kLanes];
  for (int64_t lane = 0; lane < kLanes; ++lane) {
    const bool exists = out + lane < source.out_channels;
    rows[lane] = exists ? data + (out + lane) * out_stride + in * in_stride : kZeros;
  }
  const auto place = [&](int tap) -> __m256& { return values[flipped ? taps - 1 - tap : tap]; };
  constexpr int kWhole = taps / 8 * 8;
  for (int tap = 0; tap < kWhole; tap += 8) {
    __m256 square[8];
    for (int lane = 0; lane < 8; ++lane) square[lane] = _mm256_loadu_ps(rows[lane] + tap);
    transpose_8x8(square);
    for (int i = 0; i < 8; ++i) place(tap + i) = square[i];
  }
  for (int tap = kWhole; tap < taps; ++tap) {
    place(tap) = _mm256_setr_ps(rows[0][tap], rows[1][tap], rows[2][tap], rows[3][tap], rows[4][tap],
                                rows[5][tap], rows[6][tap], rows[7][tap]);
  }
}

// 3x3 weights to 6x6 points.
void transform_plane(const __m256* weights, __m256* points) {
  __m256 columns[3][kPoints];
  for (int column = 0; column < 3; ++column) {
    const __m256 g[3] = {weights[column], weights[3 + column], weights[6 + column]};
    transform_weights(g, columns[column]);
  }
  for (int64_t row = 0; row < kPoints; ++row) {
    const __m256 g[3] = {columns[0][row], columns[1][row], columns[2][row]};
    transform_weights(g, points + row * kPoints);
  }
}

// The taps of one plane of points: all of a flat kernel, a combination of a deep one's three planes.
template<int kernel_depth>
void transform_depth(const __m256* values, int plane, __m256* taps) {
  for (int tap = 0; tap < 9; ++tap) {
    if constexpr (kernel_depth == 1) {
      taps[tap] = values[tap];
    } else {
      const __m256 g[3] = {values[tap], values[9 + tap], values[18 + tap]};
      __m256 u[kPoints];
      transform_weights(g, u);
      taps[tap] = u[plane];
    }
  }
}

template<int kernel_depth>
void pack_vector(const Source& source, int plane, int64_t out, int64_t in, float* packed,
                 int64_t point_stride) {
  __m256 values[9 * kernel_depth], taps[9], points[kPlanePoints];
  load_taps<9 * kernel_depth>(source, out, in, values);
  transform_depth<kernel_depth>(values, plane, taps);
  transform_plane(taps, points);
  for (int point = 0; point < kPlanePoints; ++point)
    _mm256_store_ps(packed + point * point_stride, points[point]);
}

template<int kernel_depth>
void pack(const Source& source, const WeightChunk& chunk, float* packed, int64_t point_stride) {
  const int64_t out = chunk.slice * kSliceChannels;
  for (int64_t in = chunk.begin; in < chunk.end; ++in) {
    float* target = packed + in * kSliceChannels;
    pack_vector<kernel_depth>(source, chunk.plane, out, in, target, point_stride);
    pack_vector<kernel_depth>(source, chunk.plane, out + kLanes, in, target + kLanes, point_stride);
  }
}

}  // namespace

void pack_chunk_f32_avx2(const Convolution& convolution, const PlainWeights& weights,
                         const WeightChunk& chunk, float* packed, int64_t point_stride) {
  const auto pack_all = convolution.kernel_depth == 1 ? pack<1> : pack<3>;
  pack_all({weights, convolution.out_channels}, chunk, packed, point_stride);
}

void pack_weights_f32_avx2(const Convolution& convolution, const PlainWeights& weights, float* packed,
                           int threads) {
  const PackedLayout layout(convolution);
  const int64_t chunks = weight_chunks(convolution);
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t slice = 0; slice < layout.slices; ++slice) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      for (int plane = 0; plane < planes(convolution); ++plane) {
        float* target = packed + plane * kPlanePoints * layout.point_stride + slice * layout.slice_stride;
        pack_chunk_f32_avx2(convolution, weights, weight_chunk(convolution, plane, slice, chunk), target,
                            layout.point_stride);
      }
    }
  }
}

}  // namespace tacho::winograd
