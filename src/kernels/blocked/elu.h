#pragma once

#include <initializer_list>

#include "kernels/vector.h"

// Included only by files compiled for AVX2 or AVX-512, each with its own copy: see
// instruction_set_test.py.
namespace tacho::blocked::TACHO_ISA {
namespace {

// exp(x) - 1 for x <= 0, to about two units in the last place: 2^n (1 + q) - 1 with q = exp(r) - 1 from its
// series, |r| <= ln(2) / 2. NaN stays NaN.
inline Vector exp_minus_one(Vector x) {
  constexpr float kLeast = -87, kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  x = larger(broadcast(kLeast), x);
  const Vector n = round_to_whole(x * broadcast(kLog2E));
  Vector r = negated_multiply_add(n, broadcast(kLn2High), x);
  r = negated_multiply_add(n, broadcast(kLn2Low), r);
  Vector series = broadcast(1.0f / 5040);
  for (const float coefficient : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 1.0f / 2})
    series = multiply_add(series, r, broadcast(coefficient));
  const Vector q = multiply_add(r * r, series, r);
  const Vector power = power_of_two(n);
  return multiply_add(power, q, power - broadcast(1));
}

inline Vector elu(Vector x, Vector alpha) {
  const Vector negative = alpha * exp_minus_one(smaller(zero(), x));
  return where_positive(x, x, negative);
}

}  // namespace
}  // namespace tacho::blocked::TACHO_ISA
