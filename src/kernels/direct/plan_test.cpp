#include <gtest/gtest.h>

#include <vector>

#include "kernels/direct/backward_weights_plan.h"
#include "kernels/direct/gather_plan.h"

namespace tacho::direct::TACHO_ISA {
namespace {

Convolution convolution(int64_t batch, int64_t in, int64_t out, int64_t kernel, int64_t extent) {
  return {.batch = batch,
          .in_channels = in,
          .out_channels = out,
          .kernel = {1, kernel, kernel},
          .extents = {1, extent, extent},
          .padding = {0, kernel / 2, kernel / 2},
          .lanes = kLanes};
}

TEST(TACHO_ISA, DirectBackwardWeightsPlanCoversAllSumsOnce) {
  for (const Convolution& c :
       {convolution(1, 61, 20, 1, 14), convolution(1, 3, 64, 7, 20), convolution(2, 100, 300, 3, 7)}) {
    for (const int threads : {1, 2, 3, 64}) {
      const BackwardWeightsPlan plan(c, threads);
      std::vector<int> covered(static_cast<size_t>(plan.dst.blocks * taps(c) * plan.src.blocks));
      for (int64_t i = 0; i < plan.parts(); ++i) {
        const auto part = plan.part(i);
        EXPECT_EQ(part.in.begin % kSumVectors, 0);
        for (int64_t out = part.out.begin; out < part.out.end; ++out) {
          for (int64_t tap = part.taps.begin; tap < part.taps.end; ++tap) {
            for (int64_t in = part.in.begin; in < part.in.end; ++in)
              ++covered[static_cast<size_t>((out * taps(c) + tap) * plan.src.blocks + in)];
          }
        }
      }
      for (const int times : covered) ASSERT_EQ(times, 1) << threads;
    }
  }
}

// How much longer than its share a thread may work: products are made in blocks, which are four times as
// large with vectors twice as long.
constexpr double kUneven = kLanes == 8 ? 1.5 : 2.7;

TEST(TACHO_ISA, DirectBackwardWeightsPlanOfFewOutputChannelsHasWorkFor64Threads) {
  for (const Convolution& c : {convolution(1, 256, 64, 1, 56), convolution(1, 3, 64, 7, 56),
                               convolution(32, 64, 64, 1, 56), convolution(1, 512, 128, 1, 28)}) {
    const Split split = BackwardWeightsPlan(c, 64).split();
    EXPECT_LE(64 * longest_work(split, 64), kUneven * work_of(BackwardWeightsPlan(c, 1).split()));
    EXPECT_EQ(BackwardWeightsPlan(c, 2).tap_parts * BackwardWeightsPlan(c, 2).in_parts, 1);
  }
}

TEST(TACHO_ISA, DirectGatherPlanOfFewPositionsHasWorkFor64Threads) {
  for (const int64_t extent : {7, 14, 28}) {
    const GatherPlan plan(convolution(1, 256, 480, 1, extent), Direction::forward, 64);
    EXPECT_LE(64 * largest_share(plan.loop(), 64), kUneven) << extent;
  }
}

}  // namespace
}  // namespace tacho::direct::TACHO_ISA
