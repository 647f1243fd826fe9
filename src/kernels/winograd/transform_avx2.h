#pragma once

#include <immintrin.h>

#include "kernels/winograd/points.h"

// One-dimensional transforms of vectors of 8 channels. Included only by files compiled for AVX2 and FMA, each
// with its own copy: see instruction_set_test.py.
namespace tacho::winograd {
namespace {

// coefficient * value + sum, where there is a sum already.
inline __m256 add_product(float coefficient, __m256 value, __m256 sum, bool& empty) {
  const bool first = empty;
  empty = false;
  if (coefficient == 1) return first ? value : _mm256_add_ps(sum, value);
  const __m256 factor = _mm256_set1_ps(coefficient);
  return first ? _mm256_mul_ps(factor, value) : _mm256_fmadd_ps(factor, value, sum);
}

template<int rows, int columns>
inline void apply(const Matrix<rows, columns>& matrix, const __m256* in, __m256* out) {
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
    out[row] = _mm256_setzero_ps();
    bool empty = true;
#pragma GCC unroll 8
    for (int i = 0; i < columns; ++i) {
      if (matrix[row][i] != 0) out[row] = add_product(matrix[row][i], in[i], out[row], empty);
    }
  }
}

// Whole tiles use that their points but infinity and 0 come as x and -x: sums and differences use the adders
// beside the units for products. Terms are added from the last one on, which has the factor 1.
template<int count>
inline __m256 sum_of_every_second(const std::array<float, count>& coefficients, const __m256* values,
                                  int parity) {
  __m256 sum = _mm256_setzero_ps();
  bool empty = true;
#pragma GCC unroll 8
  for (int i = count - 1; i >= 0; --i) {
    if (i % 2 == parity && coefficients[i] != 0) sum = add_product(coefficients[i], values[i], sum, empty);
  }
  return sum;
}

// All inputs of a tile to as many points.
template<int kernel, int outputs>
inline void transform_inputs(const __m256* d, __m256* v) {
  constexpr auto kMatrix = input_transform<kernel, outputs>();
  constexpr int kUsed = kScheme<kernel>.points_for(outputs);
  if constexpr (kernel == 1 || outputs != kScheme<kernel>.tile) {
    apply<kUsed, kUsed>(kMatrix, d, v);
  } else {
    v[0] = sum_of_every_second<kUsed>(kMatrix[0], d, 1);
    v[1] = sum_of_every_second<kUsed>(kMatrix[1], d, 0);
#pragma GCC unroll 8
    for (int point = 2; point < kUsed; point += 2) {
      const __m256 even = sum_of_every_second<kUsed>(kMatrix[point], d, 0),
                   odd = sum_of_every_second<kUsed>(kMatrix[point], d, 1);
      v[point] = _mm256_add_ps(even, odd);
      v[point + 1] = _mm256_sub_ps(even, odd);
    }
  }
}

// Points to outputs: even ones need the sums of values at x and -x, odd ones their differences.
template<int kernel, int outputs>
inline void transform_products(const __m256* m, __m256* y) {
  constexpr auto kMatrix = output_transform<kernel, outputs>();
  constexpr int kUsed = kScheme<kernel>.points_for(outputs);
  if constexpr (kernel == 1 || outputs != kScheme<kernel>.tile) {
    apply<outputs, kUsed>(kMatrix, m, y);
  } else {
#pragma GCC unroll 8
    for (int row = 0; row < outputs; ++row) {
      __m256 sum = _mm256_setzero_ps();
      bool empty = true;
#pragma GCC unroll 8
      for (int point = kUsed - 2; point >= 2; point -= 2) {
        const __m256 both =
            row % 2 == 0 ? _mm256_add_ps(m[point], m[point + 1]) : _mm256_sub_ps(m[point], m[point + 1]);
        sum = add_product(kMatrix[row][point], both, sum, empty);
      }
      if (row == 0) sum = _mm256_add_ps(m[1], sum);
      if (row == outputs - 1) sum = _mm256_add_ps(m[0], sum);
      y[row] = sum;
    }
  }
}

// y[parity] + square * (y[parity + 2] + square * ...)
template<int count>
inline __m256 polynomial(const __m256* y, int parity, __m256 square) {
  __m256 value = y[(count - 1 - parity) / 2 * 2 + parity];
#pragma GCC unroll 8
  for (int i = (count - 1 - parity) / 2 * 2 + parity - 2; i >= 0; i -= 2)
    value = _mm256_fmadd_ps(square, value, y[i]);
  return value;
}

// Gradients of outputs to points: the transpose of transform_products().
template<int kernel, int outputs>
inline void transform_gradients(const __m256* y, __m256* z) {
  constexpr int kUsed = kScheme<kernel>.points_for(outputs);
  if constexpr (kernel == 1 || outputs != kScheme<kernel>.tile) {
    constexpr auto kMatrix = transpose<outputs, kUsed>(output_transform<kernel, outputs>());
    apply<kUsed, outputs>(kMatrix, y, z);
  } else {
    z[0] = y[outputs - 1];
    z[1] = y[0];
#pragma GCC unroll 8
    for (int point = 2; point < kUsed; point += 2) {
      const double x = kScheme<kernel>.points[point];
      const __m256 square = _mm256_set1_ps(static_cast<float>(x * x)),
                   factor = _mm256_set1_ps(static_cast<float>(x));
      const __m256 even = polynomial<outputs>(y, 0, square), odd = polynomial<outputs>(y, 1, square);
      z[point] = _mm256_fmadd_ps(factor, odd, even);
      z[point + 1] = _mm256_fnmadd_ps(factor, odd, even);
    }
  }
}

// The taps of a segment to points.
template<int kernel>
inline void transform_weights(const __m256* g, __m256* u) {
  constexpr auto kMatrix = weight_transform<kernel>();
  apply<kScheme<kernel>.all_points(), kScheme<kernel>.taps>(kMatrix, g, u);
}

// Points to gradients of a segment's taps: the transpose of transform_weights().
template<int kernel>
inline void transform_weight_gradients(const __m256* u, __m256* g) {
  constexpr int kPoints = kScheme<kernel>.all_points(), kTaps = kScheme<kernel>.taps;
  constexpr auto kMatrix = transpose<kPoints, kTaps>(weight_transform<kernel>());
  apply<kTaps, kPoints>(kMatrix, u, g);
}

}  // namespace
}  // namespace tacho::winograd
