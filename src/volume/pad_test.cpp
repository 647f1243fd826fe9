#include "volume/pad.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace tacho {
namespace {

std::vector<float> numbers(int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  std::iota(values.begin(), values.end(), 0.0F);
  return values;
}

TEST(Pad, MirrorsAgainAndAgainWithoutRepeatingTheEdge) {
  std::vector<int64_t> seen;
  for (int64_t position = -5; position < 8; ++position) seen.push_back(mirrored(position, 3));
  EXPECT_EQ(seen, (std::vector<int64_t>{1, 0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2, 1}));
}

TEST(Pad, AnExtentOfOneIsConstant) {
  for (const int64_t position : {-7, -1, 0, 1, 9}) EXPECT_EQ(mirrored(position, 1), 0);
}

TEST(Pad, TheSourceHoldsWhatIsSeenAndNoMore) {
  EXPECT_EQ(source_box({{-2, 3, 8}, {2, 6, 14}}, {9, 9, 10}), (Box{{0, 3, 5}, {3, 6, 10}}));
  EXPECT_EQ(source_box({{-40, 0, 0}, {40, 1, 1}}, {5, 5, 5}), (Box{{0, 0, 0}, {5, 1, 1}}));
  EXPECT_EQ(source_box({{-5, 0, 0}, {6, 1, 1}}, {10, 5, 5}), (Box{{0, 0, 0}, {6, 1, 1}}));
  EXPECT_EQ(source_box({{11, 0, 0}, {12, 1, 1}}, {9, 5, 5}), (Box{{5, 0, 0}, {6, 1, 1}}));
}

TEST(Pad, EveryVoxelIsTheMirroredOne) {
  const Point volume = {4, 5, 3};
  const std::vector<float> all = numbers(voxels(volume));
  for (const Box& wanted :
       {Box{{-3, -1, -4}, {6, 9, 5}}, Box{{1, 1, 1}, {3, 4, 2}}, Box{{4, 5, 3}, {6, 7, 6}}}) {
    const Box source = source_box(wanted, volume);
    std::vector<float> from(static_cast<size_t>(voxels(source)));
    place_into(source, whole(volume), all, from);
    std::vector<float> to(static_cast<size_t>(voxels(wanted)), -1.0F);
    mirror_into(wanted, volume, source, from, to);
    size_t i = 0;
    for (int64_t z = wanted.begin[0]; z < wanted.end[0]; ++z)
      for (int64_t y = wanted.begin[1]; y < wanted.end[1]; ++y)
        for (int64_t x = wanted.begin[2]; x < wanted.end[2]; ++x)
          ASSERT_EQ(to[i++], static_cast<float>((mirrored(z, 4) * 5 + mirrored(y, 5)) * 3 + mirrored(x, 3)));
  }
}

TEST(Pad, PlacingLeavesZerosOutside) {
  std::vector<float> to(2 * 1 * 4, -1.0F);
  place_into({{0, 0, -1}, {2, 1, 3}}, {{1, 0, 0}, {2, 1, 2}}, std::vector<float>{5, 6}, to);
  EXPECT_EQ(to, (std::vector<float>{0, 0, 0, 0, 0, 5, 6, 0}));
}

}  // namespace
}  // namespace tacho
