#include "kernels/winograd/unpack.h"
#include "kernels/blocked/transpose.h"

#include "kernels/winograd/transform.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

// Sums of one input channel and a block of output channels, of all workers.
struct Sums {
  const Reduction& reduction;
  const float* data;
  int64_t segment_stride, point_stride, worker_stride, workers;

  Vector at(int segment, int point) const {
    if (segment > 0 && !reduction.has_last_segment(point)) return zero();
    const float* sum = data + segment * segment_stride + point * point_stride;
    Vector total = load(sum);
    for (int64_t worker = 1; worker < workers; ++worker) {
      total = total + load(sum + worker * worker_stride);
    }
    return total;
  }
  void prefetch(int64_t offset, int all_points) const {
    for (int point = 0; point < all_points; ++point)
      _mm_prefetch(data + offset + point * point_stride, _MM_HINT_T0);
  }
};

// Points of one segment of a plane to the gradients of its taps.
template<int row_kernel, int column_kernel>
void transform_plane(const Vector* points, int segment, Vector* gradients) {
  constexpr Scheme kRows = kScheme<row_kernel>, kColumns = kScheme<column_kernel>;
  const int first_row = kRows.segments() > 1 ? segment * kRows.taps : 0,
            first_column = kColumns.segments() > 1 ? segment * kColumns.taps : 0;
  Vector half_way[kColumns.all_points()][kRows.taps];
  for (int column = 0; column < kColumns.all_points(); ++column) {
    Vector in[kRows.all_points()];
    for (int row = 0; row < kRows.all_points(); ++row) in[row] = points[row * kColumns.all_points() + column];
    transform_weight_gradients<row_kernel>(in, half_way[column]);
  }
  for (int row = 0; row < kRows.taps; ++row) {
    Vector in[kColumns.all_points()], out[kColumns.taps];
    for (int column = 0; column < kColumns.all_points(); ++column) in[column] = half_way[column][row];
    transform_weight_gradients<column_kernel>(in, out);
    for (int column = 0; column < kColumns.taps; ++column) {
      const int y = first_row + row, x = first_column + column;
      if (y < row_kernel && x < column_kernel) gradients[y * column_kernel + x] = out[column];
    }
  }
}

template<int row_kernel, int column_kernel>
void transform_flat(const Sums& sums, Vector* gradients) {
  constexpr int kPoints = kScheme<row_kernel>.all_points() * kScheme<column_kernel>.all_points();
  Vector points[kPoints];
  constexpr int kSegments = kScheme<row_kernel>.segments() * kScheme<column_kernel>.segments();
#pragma GCC unroll 2
  for (int segment = 0; segment < kSegments; ++segment) {
    for (int point = 0; point < kPoints; ++point) points[point] = sums.at(segment, point);
    transform_plane<row_kernel, column_kernel>(points, segment, gradients);
  }
}

void transform_deep(const Sums& sums, Vector* gradients) {
  constexpr int kPoints = kScheme<3>.all_points(), kPlane = kPoints * kPoints;
  Vector planes[3][kPlane];
  for (int point = 0; point < kPlane; ++point) {
    Vector in[kPoints], out[3];
    for (int depth = 0; depth < kPoints; ++depth) in[depth] = sums.at(0, depth * kPlane + point);
    transform_weight_gradients<3>(in, out);
    for (int depth = 0; depth < 3; ++depth) planes[depth][point] = out[depth];
  }
  for (int64_t depth = 0; depth < 3; ++depth) transform_plane<3, 3>(planes[depth], 0, gradients + 9 * depth);
}

// Vectors of output channels by tap become rows of taps, `row_stride` apart.
template<int taps>
void store_taps(const Vector* gradients, float* rows, int64_t row_stride, int64_t row_count) {
  constexpr int kWhole = taps / kSquare * kSquare;
  alignas(Vector) float rest[taps - kWhole][kLanes];
  for (int tap = 0; tap < kWhole; tap += kSquare)
    store_columns(gradients + tap, row_count, [&](int64_t row) { return rows + row * row_stride + tap; });
  for (int tap = kWhole; tap < taps; ++tap) store(rest[tap - kWhole], gradients[tap]);
  for (int64_t row = 0; row < row_count; ++row) {
    for (int tap = kWhole; tap < taps; ++tap) rows[row * row_stride + tap] = rest[tap - kWhole][row];
  }
}

constexpr int64_t kAhead = 2;  // input channels whose sums are fetched ahead

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
        const Sums of_input = {plan.reduction,
                               sums + (in - begin) * plan.sum_row_stride + out,
                               plan.reduction.segment_blocks * kLanes * plan.sum_row_stride,
                               plan.sum_point_stride,
                               worker_stride,
                               plan.workers};
        of_input.prefetch(kAhead * plan.sum_row_stride, points(convolution));
        Vector gradients[taps];
        transform(of_input, gradients);
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

}  // namespace tacho::winograd::TACHO_ISA
