#pragma once

#include "kernels/vector.h"
#include "kernels/winograd/points.h"

// One-dimensional transforms of vectors of channels, always inlined: GCC 12 would leave some of them
// functions whose vectors pass through memory. Included only by files compiled for AVX2 or AVX-512, each with
// its own copy: see instruction_set_test.py.
namespace tacho::winograd::TACHO_ISA {

using namespace blocked::TACHO_ISA;

namespace {

// coefficient * value + sum, where there is a sum already.
[[gnu::always_inline]] inline Vector add_product(float coefficient, Vector value, Vector sum, bool& empty) {
  const bool first = empty;
  empty = false;
  if (coefficient == 1) return first ? value : sum + value;
  const Vector factor = broadcast(coefficient);
  return first ? factor * value : multiply_add(factor, value, sum);
}

template<int rows, int columns>
[[gnu::always_inline]] inline void apply(const Matrix<rows, columns>& matrix, const Vector* in, Vector* out) {
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row) {
    out[row] = zero();
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
[[gnu::always_inline]] inline Vector sum_of_every_second(const std::array<float, count>& coefficients,
                                                         const Vector* values, int parity) {
  Vector sum = zero();
  bool empty = true;
#pragma GCC unroll 8
  for (int i = count - 1; i >= 0; --i) {
    if (i % 2 == parity && coefficients[i] != 0) sum = add_product(coefficients[i], values[i], sum, empty);
  }
  return sum;
}

// All inputs of a tile to as many points.
template<int kernel, int outputs>
[[gnu::always_inline]] inline void transform_inputs(const Vector* d, Vector* v) {
  constexpr auto kMatrix = input_transform<kernel, outputs>();
  constexpr int kUsed = kScheme<kernel>.points_for(outputs);
  if constexpr (kernel == 1 || outputs != kScheme<kernel>.tile) {
    apply<kUsed, kUsed>(kMatrix, d, v);
  } else {
    v[0] = sum_of_every_second<kUsed>(kMatrix[0], d, 1);
    v[1] = sum_of_every_second<kUsed>(kMatrix[1], d, 0);
#pragma GCC unroll 8
    for (int point = 2; point < kUsed; point += 2) {
      const Vector even = sum_of_every_second<kUsed>(kMatrix[point], d, 0),
                   odd = sum_of_every_second<kUsed>(kMatrix[point], d, 1);
      v[point] = even + odd;
      v[point + 1] = even - odd;
    }
  }
}

// Points to outputs: even ones need the sums of values at x and -x, odd ones their differences.
template<int kernel, int outputs>
[[gnu::always_inline]] inline void transform_products(const Vector* m, Vector* y) {
  constexpr auto kMatrix = output_transform<kernel, outputs>();
  constexpr int kUsed = kScheme<kernel>.points_for(outputs);
  if constexpr (kernel == 1 || outputs != kScheme<kernel>.tile) {
    apply<outputs, kUsed>(kMatrix, m, y);
  } else {
#pragma GCC unroll 8
    for (int row = 0; row < outputs; ++row) {
      Vector sum = zero();
      bool empty = true;
#pragma GCC unroll 8
      for (int point = kUsed - 2; point >= 2; point -= 2) {
        const Vector both = row % 2 == 0 ? m[point] + m[point + 1] : m[point] - m[point + 1];
        sum = add_product(kMatrix[row][point], both, sum, empty);
      }
      if (row == 0) sum = m[1] + sum;
      if (row == outputs - 1) sum = m[0] + sum;
      y[row] = sum;
    }
  }
}

// y[parity] + square * (y[parity + 2] + square * ...)
template<int count>
[[gnu::always_inline]] inline Vector polynomial(const Vector* y, int parity, Vector square) {
  Vector value = y[(count - 1 - parity) / 2 * 2 + parity];
#pragma GCC unroll 8
  for (int i = (count - 1 - parity) / 2 * 2 + parity - 2; i >= 0; i -= 2)
    value = multiply_add(square, value, y[i]);
  return value;
}

// Gradients of outputs to points: the transpose of transform_products().
template<int kernel, int outputs>
[[gnu::always_inline]] inline void transform_gradients(const Vector* y, Vector* z) {
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
      const Vector square = broadcast(static_cast<float>(x * x)), factor = broadcast(static_cast<float>(x));
      const Vector even = polynomial<outputs>(y, 0, square), odd = polynomial<outputs>(y, 1, square);
      z[point] = multiply_add(factor, odd, even);
      z[point + 1] = negated_multiply_add(factor, odd, even);
    }
  }
}

// The taps of a segment to points.
template<int kernel>
[[gnu::always_inline]] inline void transform_weights(const Vector* g, Vector* u) {
  constexpr auto kMatrix = weight_transform<kernel>();
  apply<kScheme<kernel>.all_points(), kScheme<kernel>.taps>(kMatrix, g, u);
}

// Points to gradients of a segment's taps: the transpose of transform_weights().
template<int kernel>
[[gnu::always_inline]] inline void transform_weight_gradients(const Vector* u, Vector* g) {
  constexpr int kPoints = kScheme<kernel>.all_points(), kTaps = kScheme<kernel>.taps;
  constexpr auto kMatrix = transpose<kPoints, kTaps>(weight_transform<kernel>());
  apply<kTaps, kPoints>(kMatrix, u, g);
}

}  // namespace
}  // namespace tacho::winograd::TACHO_ISA
