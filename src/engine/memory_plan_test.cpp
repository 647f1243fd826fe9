#include "engine/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "engine/saturating.h"

namespace tacho {
namespace {

bool overlap(int64_t begin_a, int64_t end_a, int64_t begin_b, int64_t end_b) {
  return begin_a < end_b && begin_b < end_a;
}

std::vector<Lifetime> random_lifetimes(std::mt19937& random, int count, int steps) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < count; ++i) {
    const int first = static_cast<int>(random() % static_cast<unsigned>(steps));
    const int last = std::min(steps - 1, first + static_cast<int>(random() % 6));
    lifetimes.push_back({static_cast<int64_t>(random() % 5000), first, last});
  }
  return lifetimes;
}

int64_t largest_live_sum(const std::vector<Lifetime>& lifetimes, int steps) {
  int64_t largest = 0;
  for (int step = 0; step < steps; ++step) {
    int64_t live = 0;
    for (const Lifetime& l : lifetimes) live += l.first <= step && step <= l.last ? l.bytes : 0;
    largest = std::max(largest, live);
  }
  return largest;
}

TEST(MemoryPlan, WhatLivesTogetherNeverSharesMemory) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    const auto lifetimes = random_lifetimes(random, 60, 40);
    const MemoryPlan plan = plan_memory(lifetimes);
    for (size_t a = 0; a < lifetimes.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + lifetimes[a].bytes, plan.total_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (lifetimes[a].first > lifetimes[b].last || lifetimes[b].first > lifetimes[a].last) continue;
        EXPECT_FALSE(overlap(plan.offsets[a], plan.offsets[a] + lifetimes[a].bytes, plan.offsets[b],
                             plan.offsets[b] + lifetimes[b].bytes));
      }
    }
  }
}

TEST(MemoryPlan, TakesAtLeastWhatLivesAtOnceAndLittleMore) {
  std::mt19937 random(2);
  for (int round = 0; round < 20; ++round) {
    const auto lifetimes = random_lifetimes(random, 60, 40);
    const int64_t needed = largest_live_sum(lifetimes, 40);
    const int64_t total = plan_memory(lifetimes).total_bytes;
    EXPECT_GE(total, needed);
    EXPECT_LT(static_cast<double>(total), 1.35 * static_cast<double>(needed));
  }
}

TEST(MemoryPlan, AChainOfEqualLayersNeedsTwoBuffers) {
  std::vector<Lifetime> chain;
  for (int i = 0; i < 50; ++i) chain.push_back({1024, i, i + 1});
  EXPECT_EQ(plan_memory(chain).total_bytes, 2048);
}

TEST(MemoryPlan, FillsTheTightestGap) {
  // At step 5 the dead first and third block leave gaps of 1024 and 448 bytes.
  const std::vector<Lifetime> lifetimes = {{1024, 0, 0}, {512, 0, 9}, {448, 0, 0}, {256, 0, 9}, {192, 5, 5}};
  const MemoryPlan plan = plan_memory(lifetimes);
  EXPECT_EQ(plan.offsets[4], plan.offsets[2]);
  EXPECT_EQ(plan.total_bytes, 1024 + 512 + 448 + 256);
}

TEST(MemoryPlan, BeginsWithTheLongestWhereThatTakesLess) {
  const std::vector<Lifetime> lifetimes = {{192, 4, 4}, {128, 0, 1}, {192, 1, 4}, {128, 0, 1}};
  EXPECT_EQ(plan_memory(lifetimes).total_bytes, 448);  // 512 with the largest first
}

TEST(MemoryPlan, HonoursTheAlignmentAskedFor) {
  const std::vector<Lifetime> lifetimes = {{10, 0, 0}, {10, 0, 0}, {10, 0, 0}};
  const MemoryPlan plan = plan_memory(lifetimes, 4096);
  for (const int64_t offset : plan.offsets) EXPECT_EQ(offset % 4096, 0);
  EXPECT_EQ(plan.total_bytes, 3 * 4096);
}

TEST(MemoryPlan, TakesNothingForNothing) {
  EXPECT_EQ(plan_memory({}).total_bytes, 0);
  EXPECT_EQ(plan_memory(std::vector<Lifetime>{{0, 0, 3}}).total_bytes, 0);
}

TEST(MemoryPlan, SaturatesInsteadOfOverflowing) {
  const std::vector<Lifetime> lifetimes = {{kSaturated, 0, 1}, {kSaturated - 5, 0, 1}, {1, 0, 1}};
  EXPECT_EQ(plan_memory(lifetimes).total_bytes, kSaturated);
}

}  // namespace
}  // namespace tacho
