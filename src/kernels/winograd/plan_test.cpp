#include <gtest/gtest.h>

#include <vector>

#include "kernels/winograd/backward_weights_plan.h"
#include "kernels/winograd/forward_plan.h"
#include "kernels/winograd/test_convolutions.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

Convolution convolution(int64_t batch, int64_t in, int64_t out, int64_t height, int64_t width) {
  Convolution result = flat(batch, in, out, height, width);
  result.lanes = kLanes;
  return result;
}

// Whether parts that begin at begin(0), begin(1), ... cover [first, last), each with at least one.
template<typename Begin>
void expect_cover(int64_t first, int64_t last, int64_t parts, const Begin& begin) {
  EXPECT_EQ(begin(0), first);
  for (int64_t part = 0; part < parts; ++part) EXPECT_LE(begin(part), begin(part + 1)) << part;
  EXPECT_EQ(begin(parts), last);
}

TEST(TACHO_ISA, WinogradForwardPlanCoversAllSlices) {
  for (const int threads : {1, 2, 3, 64}) {
    const ForwardPlan plan(convolution(1, 512, 500, 7, 7), threads);
    expect_cover(0, plan.packed.slices, plan.slice_parts,
                 [&](int64_t part) { return plan.slice_part(part).begin; });
    EXPECT_EQ(plan.slice_part(plan.slice_parts - 1).end, plan.packed.slices);
  }
}

TEST(TACHO_ISA, WinogradForwardPlanOfOneImageHasWorkFor64Threads) {
  const Convolution c = convolution(1, 512, 512, 7, 7);
  EXPECT_EQ(ForwardPlan(c, 2).slice_parts, 1);
  const Split split = ForwardPlan(c, 64).split();
  EXPECT_LE(64 * longest_work(split, 64), 1.3 * work_of(split));
}

TEST(TACHO_ISA, WinogradBackwardWeightsPlanCoversAllTilesAndChannels) {
  for (const int threads : {1, 2, 3, 64}) {
    const BackwardWeightsPlan plan(convolution(2, 509, 300, 13, 11), threads);
    ASSERT_TRUE(plan.shared);
    const int64_t tiles = plan.tiling.tiles();
    expect_cover(0, tiles, plan.tile_parts, [&](int64_t part) { return plan.tile_part_begin(part, tiles); });
    expect_cover(kLanes, 509, plan.channel_parts,
                 [&](int64_t part) { return plan.channel_part_begin(part, kLanes, 509); });
  }
}

TEST(TACHO_ISA, WinogradBackwardWeightsPlanBoundsSumsOfAllThreads) {
  for (const int64_t channels : {64, 128, 256, 512}) {
    const Convolution c = convolution(64, channels, channels, 56, 56);
    for (const int threads : {2, 64, 256}) {
      const BackwardWeightsPlan plan(c, threads);
      EXPECT_LE(plan.workers > 1 ? plan.workers * plan.sums_floats : 0, 17 << 20)
          << channels << ", " << threads;
    }
    const Split split = BackwardWeightsPlan(c, 64).split();
    EXPECT_LE(64 * longest_work(split, 64), 1.5 * work_of(split)) << channels;
  }
}

}  // namespace
}  // namespace tacho::winograd::TACHO_ISA
