#include "kernels/winograd/unpack_avx2.h"

#include "kernels/winograd/transform_avx2.h"
#include "kernels/winograd/transpose_avx2.h"

namespace tacho::winograd {
namespace {

constexpr int64_t kInputsAtOnce = 16;

// Sums of one input channel and 8 output channels, of all workers.
struct Sums {
  const float* data;
  int64_t point_stride, worker_stride, workers;

  __m256 operator[](int point) const {
    const float* sum = data + point * point_stride;
    __m256 total = _mm256_load_ps(sum);
    for (int64_t worker = 1; worker < workers; ++worker) {
      total = _mm256_add_ps(total, _mm256_load_ps(sum + worker * worker_stride));
    }
    return total;
  }
};

// 6x6 points to 3x3 gradients.
void transform_plane(const __m256* points, __m256* gradients) {
  __m256 columns[kPoints][3];
  for (int column = 0; column < kPoints; ++column) {
    __m256 in[kPoints];
    for (int row = 0; row < kPoints; ++row) in[row] = points[row * kPoints + column];
    transform_weight_gradients(in, columns[column]);
  }
  for (int64_t row = 0; row < 3; ++row) {
    __m256 in[kPoints];
    for (int column = 0; column < kPoints; ++column) in[column] = columns[column][row];
    transform_weight_gradients(in, gradients + 3 * row);
  }
}

template<int kernel_depth>
void transform_sums(const Sums& sums, __m256* gradients) {
  __m256 planes[kernel_depth][kPlanePoints];
  for (int point = 0; point < kPlanePoints; ++point) {
    if constexpr (kernel_depth == 1) {
      planes[0][point] = sums[point];
    } else {
      __m256 in[kPoints], out[3];
      for (int depth = 0; depth < kPoints; ++depth) in[depth] = sums[depth * kPlanePoints + point];
      transform_weight_gradients(in, out);
      for (int depth = 0; depth < 3; ++depth) planes[depth][point] = out[depth];
    }
  }
  for (int64_t depth = 0; depth < kernel_depth; ++depth)
    transform_plane(planes[depth], gradients + 9 * depth);
}

// Vectors of output channels by tap become rows of taps, `row_stride` apart.
template<int taps>
void store_taps(__m256* gradients, float* rows, int64_t row_stride, int64_t row_count) {
  constexpr int kWhole = taps / 8 * 8;
  alignas(32) float rest[taps - kWhole][kLanes];
  for (int tap = 0; tap < kWhole; tap += 8) transpose_8x8(gradients + tap);
  for (int tap = kWhole; tap < taps; ++tap) _mm256_store_ps(rest[tap - kWhole], gradients[tap]);
  for (int64_t row = 0; row < row_count; ++row) {
    float* target = rows + row * row_stride;
    for (int tap = 0; tap < kWhole; tap += 8) _mm256_storeu_ps(target + tap, gradients[tap + row]);
    for (int tap = kWhole; tap < taps; ++tap) target[tap] = rest[tap - kWhole][row];
  }
}

template<int kernel_depth>
void unpack(const Convolution& convolution, const BackwardWeightsPlan& plan, const float* sums,
            int64_t worker_stride, int64_t begin, int64_t end, const BackwardWeightsArguments& arguments) {
  constexpr int kTaps = 9 * kernel_depth;
  const int64_t chunks = divide_up(end - begin, kInputsAtOnce);
#pragma omp for collapse(2) schedule(static)
  for (int64_t block = 0; block < plan.dst.blocks; ++block) {
    for (int64_t chunk = 0; chunk < chunks; ++chunk) {
      const int64_t out = block * kLanes, first = begin + chunk * kInputsAtOnce;
      for (int64_t in = first; in < std::min(first + kInputsAtOnce, end); ++in) {
        __m256 gradients[kTaps];
        transform_sums<kernel_depth>({sums + (in - begin) * plan.sum_row_stride + out, plan.sum_point_stride,
                                      worker_stride, plan.workers},
                                     gradients);
        store_taps<kTaps>(gradients, arguments.diff_weights + (out * convolution.in_channels + in) * kTaps,
                          convolution.in_channels * kTaps, std::min(kLanes, convolution.out_channels - out));
      }
    }
  }
}

}  // namespace

void unpack_weight_gradients(const Convolution& convolution, const BackwardWeightsPlan& plan,
                             const float* sums, int64_t worker_stride, int64_t begin, int64_t end,
                             const BackwardWeightsArguments& arguments) {
  const auto unpack_channels = convolution.kernel_depth == 1 ? unpack<1> : unpack<3>;
  unpack_channels(convolution, plan, sums, worker_stride, begin, end, arguments);
}

}  // namespace tacho::winograd
