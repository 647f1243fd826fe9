#include "predict/tiling.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace tacho {
namespace {

Point random_point(std::mt19937& random, int64_t largest) {
  std::uniform_int_distribution<int64_t> extent(1, largest);
  return {extent(random), extent(random), extent(random)};
}

TEST(Tiling, CoversEveryVoxelExactlyOnce) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const Tiling tiling{random_point(random, 17), random_point(random, 9)};
    std::vector<int> covered(static_cast<size_t>(voxels(tiling.volume)));
    for (int64_t number = 0; number < tiling.count(); ++number) {
      const Box box = tiling.box(number);
      ASSERT_GT(voxels(box), 0);
      ASSERT_EQ(box, intersection(box, whole(tiling.volume)));
      for (int64_t z = box.begin[0]; z < box.end[0]; ++z)
        for (int64_t y = box.begin[1]; y < box.end[1]; ++y)
          for (int64_t x = box.begin[2]; x < box.end[2]; ++x)
            ++covered[static_cast<size_t>((z * tiling.volume[1] + y) * tiling.volume[2] + x)];
    }
    for (const int times : covered)
      ASSERT_EQ(times, 1) << to_string(tiling.volume) << to_string(tiling.block);
  }
}

TEST(Tiling, NumbersRowMajor) {
  const Tiling tiling{{5, 6, 7}, {2, 3, 4}};
  EXPECT_EQ(tiling.counts(), (Point{3, 2, 2}));
  EXPECT_EQ(tiling.index(7), (Point{1, 1, 1}));
  EXPECT_EQ(tiling.box(11), (Box{{4, 3, 4}, {5, 6, 7}}));
}

}  // namespace
}  // namespace tacho
