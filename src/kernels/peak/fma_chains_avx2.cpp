#include <immintrin.h>

#include "kernels/peak/fma_chains.h"

namespace tacho {
namespace {

constexpr int kChains = 12;  // 14 of 16 registers

float run(int64_t rounds) {
  const __m256 factor = _mm256_set1_ps(kFmaFactor), addend = _mm256_set1_ps(kFmaAddend);
  __m256 chains[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chains[i] = _mm256_set1_ps(fma_start(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (__m256& chain : chains) chain = _mm256_fmadd_ps(chain, factor, addend);
  }
  __m256 sum = _mm256_setzero_ps();
#pragma GCC unroll 12
  for (const __m256& chain : chains) sum = _mm256_add_ps(sum, chain);
  return _mm256_cvtss_f32(sum);
}

}  // namespace

FmaChains fma_chains_f32_avx2() { return {run, kChains * 8 * 2}; }

}  // namespace tacho
