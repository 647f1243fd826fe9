#include <immintrin.h>

#include "kernels/peak/fma_chains.h"

namespace tacho {
namespace {

constexpr int kChains = 12;  // 14 of 16 registers

// Without FMA, half of the chains multiply and half add, so that both units are busy.
float run(int64_t rounds) {
  __m128 factor = _mm_set1_ps(1);
  asm volatile("" : "+x"(factor));  // hides from the compiler that multiplying changes nothing
  const __m128 addend = _mm_set1_ps(kFmaAddend);
  __m128 chains[kChains];
#pragma GCC unroll 12
  for (int i = 0; i < kChains; ++i) chains[i] = _mm_set1_ps(fma_start(i));
  for (int64_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) {
      chains[i] = i % 2 == 0 ? _mm_mul_ps(chains[i], factor) : _mm_add_ps(chains[i], addend);
    }
  }
  __m128 sum = _mm_setzero_ps();
#pragma GCC unroll 12
  for (const __m128& chain : chains) sum = _mm_add_ps(sum, chain);
  return _mm_cvtss_f32(sum);
}

}  // namespace

FmaChains fma_chains_f32_sse2() { return {run, kChains * 4}; }

}  // namespace tacho
