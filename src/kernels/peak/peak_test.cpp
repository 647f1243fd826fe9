#include "kernels/peak/peak.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/cpu.h"
#include "base/memory.h"
#include "kernels/peak/fma_chains.h"

namespace tacho {
namespace {

bool can_run(InstructionSet set) { return widest_instruction_set() >= set; }

// A chain's distance from its fixed point, 1, shrinks by the factor in each round.
float expected_sum(int chains, int rounds) {
  double sum = 0;
  for (int i = 0; i < chains; ++i) sum += 1 + (fma_start(i) - 1) * std::pow(kFmaFactor, rounds);
  return static_cast<float>(sum);
}

TEST(FmaChains, DoEveryMultiplyAddWithAvx2) {
  if (!can_run(InstructionSet::avx2)) GTEST_SKIP() << "no AVX2 here";
  const FmaChains chains = fma_chains_f32_avx2();
  EXPECT_NEAR(chains.run(10), expected_sum(chains.flop_per_round / 16, 10), 1e-4);
}

TEST(FmaChains, DoEveryMultiplyAddWithAvx512) {
  if (!can_run(InstructionSet::avx512)) GTEST_SKIP() << "no AVX-512 here";
  const FmaChains chains = fma_chains_f32_avx512();
  EXPECT_NEAR(chains.run(10), expected_sum(chains.flop_per_round / 32, 10), 1e-4);
}

TEST(DotChains, AddTwoProductsOfBf16InEachRound) {
  if (!has_bf16_products()) GTEST_SKIP() << "no products of bf16 here";
  const FmaChains chains = dot_chains_bf16_avx512();
  const int count = chains.flop_per_round / 64, rounds = 1000;
  float expected = 0;
  for (int i = 0; i < count; ++i)
    expected += fma_start(i) + static_cast<float>(rounds) * 2 * kDotFactor * kDotFactor;
  EXPECT_NEAR(chains.run(rounds), expected, 1e-3);
  EXPECT_GT(chains.run(rounds), chains.run(0));
}

TEST(FmaChains, MultiplyAndAddByTurnsWithSse2) {
  const FmaChains chains = fma_chains_f32_sse2();
  const int count = chains.flop_per_round / 4;
  float expected = 0;
  for (int i = 0; i < count; ++i) expected += fma_start(i) + (i % 2 == 0 ? 0 : 10 * kFmaAddend);
  EXPECT_NEAR(chains.run(10), expected, 1e-4);
}

// Loose, since other programs may share the machine with the tests.
TEST(FmaPeak, IsPositiveAndFallsLittleWithTwoThreads) {
  const double alone = measure_fma_gflops(1), together = measure_fma_gflops(2);
  EXPECT_GT(alone, 0);
  EXPECT_TRUE(std::isfinite(together));
  EXPECT_GT(together, 0.25 * alone);
}

TEST(Bandwidth, IsPositiveWithOneThreadAndTwo) {
  const double alone = measure_bandwidth_gbs(1), together = measure_bandwidth_gbs(2);
  EXPECT_GT(alone, 0);
  EXPECT_TRUE(std::isfinite(together));
  EXPECT_GT(together, 0.05 * alone);
}

// Pages that nothing was written to take no memory: reading them measures a cache.
TEST(Bandwidth, IsOfMemoryThatIsThere) {
  constexpr int64_t kLeastSwept = int64_t{256} << 20;
  if (available_memory_bytes() < 2 * kLeastSwept) GTEST_SKIP() << "too little memory";
  measure_bandwidth_gbs(1);
  EXPECT_GT(peak_memory_bytes(), kLeastSwept / 10 * 9);
}

}  // namespace
}  // namespace tacho
