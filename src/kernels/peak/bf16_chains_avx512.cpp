#include <immintrin.h>

#include "kernels/peak/fma_chains.h"

namespace tacho {
namespace {

constexpr int kChains = 24;  // 25 of 32 registers

float run(int64_t rounds) {
  const __m512bh factor = _mm512_cvtne2ps_pbh(_mm512_set1_ps(kDotFactor), _mm512_set1_ps(kDotFactor));
  __m512 chains[kChains];
#pragma GCC unroll 24
  for (int i = 0; i < kChains; ++i) chains[i] = _mm512_set1_ps(fma_start(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 24
    for (__m512& chain : chains) chain = _mm512_dpbf16_ps(chain, factor, factor);
  }
  __m512 sum = _mm512_setzero_ps();
#pragma GCC unroll 24
  for (const __m512& chain : chains) sum = _mm512_add_ps(sum, chain);
  return _mm512_cvtss_f32(sum);
}

}  // namespace

FmaChains dot_chains_bf16_avx512() { return {run, kChains * 16 * 4}; }

}  // namespace tacho
