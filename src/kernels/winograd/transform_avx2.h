#pragma once

#include <immintrin.h>

#include "kernels/winograd/points.h"

// One-dimensional transforms of vectors of 8 channels. Included only by files compiled for AVX2 and FMA, each
// with its own copy: see instruction_set_test.py.
namespace tacho::winograd {
namespace {

template<int columns>
inline __m256 dot(const std::array<float, columns>& coefficients, const __m256* values) {
  __m256 sum = _mm256_setzero_ps();
  bool empty = true;
#pragma GCC unroll 6
  for (int i = 0; i < columns; ++i) {
    if (coefficients[i] == 0) continue;
    const __m256 coefficient = _mm256_set1_ps(coefficients[i]);
    sum = empty ? _mm256_mul_ps(coefficient, values[i]) : _mm256_fmadd_ps(coefficient, values[i], sum);
    empty = false;
  }
  return sum;
}

template<int rows, int columns>
inline void apply(const Matrix<rows, columns>& matrix, const __m256* in, __m256* out) {
#pragma GCC unroll 6
  for (int row = 0; row < rows; ++row) out[row] = dot<columns>(matrix[row], in);
}

// outputs + 2 inputs to outputs + 2 points.
template<int outputs>
inline void transform_inputs(const __m256* d, __m256* v) {
  if constexpr (outputs == kTile) {
    // Sums and differences use the adders beside the units for products.
    const auto constant = [](double value) { return _mm256_set1_ps(static_cast<float>(value)); };
    const __m256 aa = constant(kA * kA), bb = constant(kB * kB);
    const __m256 sum = constant(kA * kA + kB * kB), product = constant(kA * kA * kB * kB);
    v[0] = _mm256_fmadd_ps(product, d[1], _mm256_fnmadd_ps(sum, d[3], d[5]));
    v[1] = _mm256_fmadd_ps(product, d[0], _mm256_fnmadd_ps(sum, d[2], d[4]));
    const auto at_both_signs = [&](double x, __m256 square_of_other, double other, __m256* two) {
      const __m256 even = _mm256_fnmadd_ps(square_of_other, d[2], d[4]);
      const __m256 odd =
          _mm256_fnmadd_ps(constant(x * other * other), d[1], _mm256_mul_ps(constant(x), d[3]));
      two[0] = _mm256_add_ps(even, odd);
      two[1] = _mm256_sub_ps(even, odd);
    };
    at_both_signs(kA, bb, kB, v + 2);
    at_both_signs(kB, aa, kA, v + 4);
  } else {
    constexpr auto kMatrix = input_transform<outputs>();
    apply<outputs + 2, outputs + 2>(kMatrix, d, v);
  }
}

// outputs + 2 points to outputs.
template<int outputs>
inline void transform_products(const __m256* m, __m256* y) {
  if constexpr (outputs == kTile) {
    const __m256 sum_a = _mm256_add_ps(m[2], m[3]), difference_a = _mm256_sub_ps(m[2], m[3]);
    const __m256 sum_b = _mm256_add_ps(m[4], m[5]), difference_b = _mm256_sub_ps(m[4], m[5]);
    const auto combine = [](double weight_a, __m256 of_a, double weight_b, __m256 of_b) {
      return _mm256_fmadd_ps(_mm256_set1_ps(static_cast<float>(weight_a)), of_a,
                             _mm256_mul_ps(_mm256_set1_ps(static_cast<float>(weight_b)), of_b));
    };
    y[0] = _mm256_add_ps(m[1], _mm256_add_ps(sum_a, sum_b));
    y[1] = combine(kA, difference_a, kB, difference_b);
    y[2] = combine(kA * kA, sum_a, kB * kB, sum_b);
    y[3] = _mm256_add_ps(m[0], combine(kA * kA * kA, difference_a, kB * kB * kB, difference_b));
  } else {
    constexpr auto kMatrix = output_transform<outputs>();
    apply<outputs, outputs + 2>(kMatrix, m, y);
  }
}

// outputs to outputs + 2 points: the transpose of transform_products().
template<int outputs>
inline void transform_gradients(const __m256* y, __m256* z) {
  if constexpr (outputs == kTile) {
    z[0] = y[3];
    z[1] = y[0];
    const auto at_both_signs = [&](double x, __m256* two) {
      const __m256 square = _mm256_set1_ps(static_cast<float>(x * x)),
                   point = _mm256_set1_ps(static_cast<float>(x));
      const __m256 even = _mm256_fmadd_ps(square, y[2], y[0]), odd = _mm256_fmadd_ps(square, y[3], y[1]);
      two[0] = _mm256_fmadd_ps(point, odd, even);
      two[1] = _mm256_fnmadd_ps(point, odd, even);
    };
    at_both_signs(kA, z + 2);
    at_both_signs(kB, z + 4);
  } else {
    constexpr auto kMatrix = transpose<outputs, outputs + 2>(output_transform<outputs>());
    apply<outputs + 2, outputs>(kMatrix, y, z);
  }
}

// 6 points to gradients of 3 weights: the transpose of transform_weights().
inline void transform_weight_gradients(const __m256* u, __m256* g) {
  constexpr auto kMatrix = transpose<kPoints, 3>(weight_transform());
  apply<3, kPoints>(kMatrix, u, g);
}

// 3 weights to 6 points.
inline void transform_weights(const __m256* g, __m256* u) {
  constexpr auto kMatrix = weight_transform();
  apply<kPoints, 3>(kMatrix, g, u);
}

}  // namespace
}  // namespace tacho::winograd
