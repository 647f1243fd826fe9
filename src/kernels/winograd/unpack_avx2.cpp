#include "kernels/winograd/unpack_avx2.h"
#include "kernels/blocked/transpose_avx2.h"

#include "kernels/winograd/transform_avx2.h"

namespace tacho::winograd {
namespace {

// Sums of one input channel and 8 output channels, of all workers.
struct Sums {
  const Reduction& reduction;
  const float* data;
  int64_t segment_stride, point_stride, worker_stride, workers;

  __m256 at(int segment, int point) const {
    if (segment > 0 && !reduction.has_last_segment(point)) return _mm256_setzero_ps();
    const float* sum = data + segment * segment_stride + point * point_stride;
    __m256 total = _mm256_load_ps(sum);
    for (int64_t worker = 1; worker < workers; ++worker) {
      total = _mm256_add_ps(total, _mm256_load_ps(sum + worker * worker_stride));
    }
    return total;
  }
};

// Points of one segment of a plane to the gradients of its taps.
template<int row_kernel, int column_kernel>
void transform_plane(const __m256* points, int segment, __m256* gradients) {
  constexpr Scheme kRows = kScheme<row_kernel>, kColumns = kScheme<column_kernel>;
  const int first_row = kRows.segments() > 1 ? segment * kRows.taps : 0,
            first_column = kColumns.segments() > 1 ? segment * kColumns.taps : 0;
  __m256 half_way[kColumns.all_points()][kRows.taps];
  for (int column = 0; column < kColumns.all_points(); ++column) {
    __m256 in[kRows.all_points()];
    for (int row = 0; row < kRows.all_points(); ++row) in[row] = points[row * kColumns.all_points() + column];
    transform_weight_gradients<row_kernel>(in, half_way[column]);
  }
  for (int row = 0; row < kRows.taps; ++row) {
    __m256 in[kColumns.all_points()], out[kColumns.taps];
    for (int column = 0; column < kColumns.all_points(); ++column) in[column] = half_way[column][row];
    transform_weight_gradients<column_kernel>(in, out);
    for (int column = 0; column < kColumns.taps; ++column) {
      const int y = first_row + row, x = first_column + column;
      if (y < row_kernel && x < column_kernel) gradients[y * column_kernel + x] = out[column];
    }
  }
}

template<int row_kernel, int column_kernel>
void transform_flat(const Sums& sums, __m256* gradients) {
  constexpr int kPoints = kScheme<row_kernel>.all_points() * kScheme<column_kernel>.all_points();
  __m256 points[kPoints];
  constexpr int kSegments = kScheme<row_kernel>.segments() * kScheme<column_kernel>.segments();
#pragma GCC unroll 2
  for (int segment = 0; segment < kSegments; ++segment) {
    for (int point = 0; point < kPoints; ++point) points[point] = sums.at(segment, point);
    transform_plane<row_kernel, column_kernel>(points, segment, gradients);
  }
}

void transform_deep(const Sums& sums, __m256* gradients) {
  constexpr int kPoints = kScheme<3>.all_points(), kPlane = kPoints * kPoints;
  __m256 planes[3][kPlane];
  for (int point = 0; point < kPlane; ++point) {
    __m256 in[kPoints], out[3];
    for (int depth = 0; depth < kPoints; ++depth) in[depth] = sums.at(0, depth * kPlane + point);
    transform_weight_gradients<3>(in, out);
    for (int depth = 0; depth < 3; ++depth) planes[depth][point] = out[depth];
  }
  for (int64_t depth = 0; depth < 3; ++depth) transform_plane<3, 3>(planes[depth], 0, gradients + 9 * depth);
}

// Vectors of output channels by tap become rows of taps, `row_stride` apart.
template<int taps>
void store_taps(__m256* gradients, float* rows, int64_t row_stride, int64_t row_count) {
  constexpr int kWhole = taps / 8 * 8;
  alignas(32) float rest[taps - kWhole][kLanes];
  for (int tap = 0; tap < kWhole; tap += 8) blocked::transpose_8x8(gradients + tap);
  for (int tap = kWhole; tap < taps; ++tap) _mm256_store_ps(rest[tap - kWhole], gradients[tap]);
  for (int64_t row = 0; row < row_count; ++row) {
    float* target = rows + row * row_stride;
    for (int tap = 0; tap < kWhole; tap += 8) _mm256_storeu_ps(target + tap, gradients[tap + row]);
    for (int tap = kWhole; tap < taps; ++tap) target[tap] = rest[tap - kWhole][row];
  }
}

template<int taps, typename Transform>
void unpack(const Convolution& convolution, const BackwardWeightsPlan& plan, const float* sums,
            int64_t worker_stride, int64_t begin, int64_t end, const BackwardWeightsArguments& arguments,
            const Transform& transform) {
  const int64_t chunks = divide_up(end - begin, plan.unpacked_channels);
#pragma omp for collapse(2) schedule(static)
  for (int64_t block = 0; block < plan.dst.blocks; ++block) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t out = block * kLanes, first = begin + chunk * plan.unpacked_channels;
      for (int64_t in = first; in < std::min(first + plan.unpacked_channels, end); ++in) {
        __m256 gradients[taps];
        transform(Sums{plan.reduction, sums + (in - begin) * plan.sum_row_stride + out,
                       plan.reduction.segment_blocks * kLanes * plan.sum_row_stride, plan.sum_point_stride,
                       worker_stride, plan.workers},
                  gradients);
        store_taps<taps>(gradients, arguments.diff_weights + (out * convolution.in_channels + in) * taps,
                         convolution.in_channels * taps, std::min(kLanes, convolution.out_channels - out));
      }
    }
  }
}

}  // namespace

void unpack_weight_gradients(const Convolution& convolution, const BackwardWeightsPlan& plan,
                             const float* sums, int64_t worker_stride, int64_t begin, int64_t end,
                             const BackwardWeightsArguments& arguments) {
  if (is_deep(convolution))
    return unpack<27>(convolution, plan, sums, worker_stride, begin, end, arguments, transform_deep);
  with_flat_kernel(convolution, [&]<int rows, int columns>() {
    unpack<rows * columns>(convolution, plan, sums, worker_stride, begin, end, arguments,
                           transform_flat<rows, columns>);
  });
}

}  // namespace tacho::winograd
