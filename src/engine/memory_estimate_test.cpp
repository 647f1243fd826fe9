#include "engine/memory_estimate.h"

#include <gtest/gtest.h>

#include "engine/saturating.h"
#include "graph/builder.h"
#include "graph/gradient.h"

namespace tacho {
namespace {

constexpr int64_t kImageBytes = 2 * 8 * 16 * 16 * 4;  // of every activation below

Graph two_convolutions(bool with_relu) {
  Builder b("chain");
  ValueId x = b.input("input", {2, 8, 16, 16});
  for (const char* name : {"a", "b"}) {
    x = b.convolution(name, x, {.channels = 8, .kernel = {1, 1}, .bias = false});
    if (with_relu) x = b.relu(std::string(name) + ".relu", x);
  }
  return b.finish(x);
}

constexpr int64_t kWeightBytes = 2 * 8 * 8 * 4;

TEST(MemoryEstimate, OfInferenceIsWeightsInputAndTheTwoLargestNeighbours) {
  EXPECT_EQ(estimate_arena_plan_bytes(two_convolutions(false), Sgd{}), kWeightBytes + 3 * kImageBytes);
}

TEST(MemoryEstimate, TakesNothingForAnOpThatRunsInPlace) {
  EXPECT_EQ(estimate_arena_plan_bytes(two_convolutions(true), Sgd{}),
            estimate_arena_plan_bytes(two_convolutions(false), Sgd{}));
}

TEST(MemoryEstimate, PadsChannelsToABlock) {
  const auto one_convolution = [](int64_t channels) {
    Builder b("one");
    const ValueId x = b.input("input", {1, 8, 16, 16});
    return b.finish(b.convolution("conv", x, {.channels = channels, .kernel = {1, 1}, .bias = false}));
  };
  for (const int64_t block : {8, 16}) {
    const ArenaLayout layout = {.channel_block = block};
    const int64_t one_channel = estimate_arena_plan_bytes(one_convolution(1), Sgd{}, layout);
    const int64_t all_channels = estimate_arena_plan_bytes(one_convolution(block), Sgd{}, layout);
    EXPECT_EQ(all_channels - one_channel, (block - 1) * 8 * 4);  // weights alone
  }
}

TEST(MemoryEstimate, OfTrainingCountsGradientsAndOptimizerState) {
  const Graph training = gradient(two_convolutions(true), Loss::dice);
  const int64_t sgd = estimate_arena_plan_bytes(training, Sgd{});
  const int64_t adam = estimate_arena_plan_bytes(training, Adam{});
  EXPECT_EQ(adam - sgd, (state_per_parameter(Adam{}) - state_per_parameter(Sgd{})) * kWeightBytes);
  EXPECT_GT(sgd, estimate_arena_plan_bytes(two_convolutions(true), Sgd{}) + 2 * kWeightBytes);
}

TEST(MemoryEstimate, SaturatesForAbsurdBatches) {
  Builder b("absurd");
  ValueId x = b.input("input", {int64_t{1} << 52, 3, 16, 16});
  for (const char* name : {"a", "b", "c"}) x = b.relu(name, x);
  EXPECT_EQ(estimate_arena_plan_bytes(b.finish(x), Sgd{}), kSaturated);
}

TEST(MemoryEstimate, GrowsWithTheBatch) {
  const auto of_batch = [](int64_t batch) {
    Builder b("batch");
    const ValueId x = b.input("input", {batch, 3, 224, 224});
    return estimate_arena_plan_bytes(b.finish(b.relu("relu", x)), Sgd{});
  };
  EXPECT_GT(of_batch(4'000'000), 4'000'000 * int64_t{224 * 224 * 4 * 3});
  EXPECT_LT(of_batch(4'000'000), kSaturated);
}

}  // namespace
}  // namespace tacho
