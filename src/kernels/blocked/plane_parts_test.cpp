#include "kernels/blocked/plane_parts.h"

#include <gtest/gtest.h>

#include <vector>

namespace tacho::blocked {
namespace {

TEST(PlaneParts, CoverEveryPieceOnce) {
  for (const int64_t planes : {1, 2, 3, 63, 255, 256, 1000}) {
    for (const int64_t pieces : {1, 2, 7, 1023, 1025, 20'011}) {
      for (const int64_t fewest : {1, 3, 1024}) {
        const PlaneParts parts(planes, pieces, fewest);
        std::vector<int> covered(static_cast<size_t>(planes * pieces));
        for (int64_t item = 0; item < parts.items(); ++item) {
          ASSERT_LT(parts.begin(item), parts.end(item));
          for (int64_t piece = parts.begin(item); piece < parts.end(item); ++piece)
            ++covered[static_cast<size_t>(parts.plane(item) * pieces + piece)];
        }
        for (const int times : covered) ASSERT_EQ(times, 1) << planes << " x " << pieces;
      }
    }
  }
}

TEST(PlaneParts, AVolumeOfFewChannelsHasWorkFor64Threads) {
  const PlaneParts parts(2, 64 * 64 * 64, 1024);
  EXPECT_GE(parts.items(), 256);
  EXPECT_LE(64 * largest_share(loop_over(parts), 64), 1.1);
}

TEST(PlaneParts, ManyPlanesStayWhole) { EXPECT_EQ(PlaneParts(256, 56 * 56, 1024).parts, 1); }

TEST(PlaneParts, AreNoSmallerThanIsWorthIt) {
  EXPECT_EQ(PlaneParts(2, 1000, 1024).parts, 1);
  EXPECT_EQ(PlaneParts(2, 3000, 1024).parts, 2);
}

}  // namespace
}  // namespace tacho::blocked
