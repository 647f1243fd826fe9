#include "predict/block_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/engines.h"
#include "models/zoo.h"
#include "predict/tiling.h"

namespace tacho {
namespace {

constexpr int64_t kMuchMemory = int64_t{8} << 30;

// Of a volume so small that nothing is measured.
class ChosenBlock : public testing::Test {
 protected:
  BlockChoice choose(const Point& volume, const BlockLimits& limits) const {
    return choose_block(network_, {}, engine_, {}, volume, {}, limits);
  }
  int64_t memory_of(const Point& volume, const Point& block) const {
    return estimate_block(network_, engine_, {}, volume, {.block = block}).memory_bytes;
  }

  const Graph network_ = build_model(find_model("unet3d_lite"), {.batch = 1});
  const Engine& engine_ = find_engine("native");
};

TEST_F(ChosenBlock, IsASmallVolumeAsAWhole) {
  EXPECT_EQ(choose({9, 37, 29}, {.memory_bytes = kMuchMemory}).block, (Point{12, 40, 32}));
}

TEST_F(ChosenBlock, KeepsToTheMemoryAndGrowsWithIt) {
  const Point volume = {64, 160, 160};
  int64_t before = 0;
  for (const int64_t memory : {int64_t{300} << 20, int64_t{600} << 20}) {
    const Point block = choose(volume, {.memory_bytes = memory}).block;
    EXPECT_LE(memory_of(volume, block), memory);
    EXPECT_GT(voxels(block), before);
    before = voxels(block);
  }
}

TEST_F(ChosenBlock, LeavesEnoughBlocksForAllDevices) {
  const Point volume = {64, 160, 160};
  const Point block = choose(volume, {.memory_bytes = kMuchMemory, .blocks = 16}).block;
  EXPECT_GE((Tiling{volume, block}.count()), 16);
  EXPECT_LT((Tiling{volume, block}.count()), 64);
}

TEST_F(ChosenBlock, SaysWhatItIsAndWhatItCosts) {
  EXPECT_THAT(choose({9, 37, 29}, {.memory_bytes = kMuchMemory}).reason,
              testing::MatchesRegex(
                  "block 12x40x32: its halo makes .* times the work, and it holds .* of 8.0 GiB .*"));
}

TEST_F(ChosenBlock, IsRefusedWhereNotEvenTheSmallestFits) {
  EXPECT_THROW(choose({64, 160, 160}, {.memory_bytes = 1 << 20}), UserError);
}

}  // namespace
}  // namespace tacho
