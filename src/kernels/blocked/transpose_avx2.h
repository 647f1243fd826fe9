#pragma once

#include <immintrin.h>

// Included only by files compiled for AVX2 and FMA, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked {
namespace {

inline void transpose_8x8(__m256* rows) {
  __m256 pairs[8], quads[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
    pairs[i + 1] = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    for (int half = 0; half < 2; ++half) {
      const __m256 first = pairs[i + half], second = pairs[i + half + 2];
      quads[i + 2 * half] = _mm256_shuffle_ps(first, second, _MM_SHUFFLE(1, 0, 1, 0));
      quads[i + 2 * half + 1] = _mm256_shuffle_ps(first, second, _MM_SHUFFLE(3, 2, 3, 2));
    }
  }
  for (int i = 0; i < 4; ++i) {
    rows[i] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x20);
    rows[i + 4] = _mm256_permute2f128_ps(quads[i], quads[i + 4], 0x31);
  }
}

}  // namespace
}  // namespace tacho::blocked
