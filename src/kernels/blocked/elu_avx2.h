#pragma once

#include <immintrin.h>

#include <initializer_list>

// Included only by files compiled for AVX2 and FMA, each with its own copy: see
// instruction_set_test.py.
namespace tacho::blocked {
namespace {

// exp(x) - 1 for x <= 0, to about two units in the last place: 2^n (1 + q) - 1 with q = exp(r) - 1 from its
// series, |r| <= ln(2) / 2. NaN stays NaN.
inline __m256 exp_minus_one(__m256 x) {
  constexpr float kLeast = -87, kLog2E = 1.44269504f, kLn2High = 0.693359375f, kLn2Low = -2.12194440e-4f;
  x = _mm256_max_ps(_mm256_set1_ps(kLeast), x);
  const __m256 n = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(kLog2E)),
                                   _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2High), x);
  r = _mm256_fnmadd_ps(n, _mm256_set1_ps(kLn2Low), r);
  __m256 series = _mm256_set1_ps(1.0f / 5040);
  for (const float coefficient : {1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 1.0f / 2})
    series = _mm256_fmadd_ps(series, r, _mm256_set1_ps(coefficient));
  const __m256 q = _mm256_fmadd_ps(_mm256_mul_ps(r, r), series, r);
  const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
  const __m256 power = _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23));
  return _mm256_fmadd_ps(power, q, _mm256_sub_ps(power, _mm256_set1_ps(1)));
}

inline __m256 elu(__m256 x, __m256 alpha) {
  const __m256 positive = _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ);
  const __m256 negative = _mm256_mul_ps(alpha, exp_minus_one(_mm256_min_ps(_mm256_setzero_ps(), x)));
  return _mm256_blendv_ps(negative, x, positive);
}

}  // namespace
}  // namespace tacho::blocked
