#pragma once

#include <cstdint>

namespace tacho {

// Independent chains of multiply-adds, enough of them to hide the latency of one.
struct FmaChains {
  float (*run)(int64_t rounds);  // the result depends on every operation, so that none can be left out
  int flop_per_round;
};

FmaChains fma_chains_f32_sse2();
FmaChains fma_chains_f32_avx2();
FmaChains fma_chains_f32_avx512();
// Adds two products of bf16 at a time to a float; only where has_bf16_products().
FmaChains dot_chains_bf16_avx512();

// The factor and the addend keep a chain near 1: neither overflow nor denormals.
inline constexpr float kFmaFactor = 0.9375f, kFmaAddend = 0.0625f;

// Twice its square is added in each round: a chain of any length stays far from overflow.
inline constexpr float kDotFactor = 0x1p-10f;

// Where each chain starts. The compiler would merge chains that start alike.
constexpr float fma_start(int chain) { return 1 + static_cast<float>(chain) / 64; }

}  // namespace tacho
