#include "data/volume_view.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"

namespace tacho {
namespace {

constexpr VolumeAugmentation kEverything = {.flip = true, .rotate = true, .elastic = true};

TEST(VolumeView, LiesInsideTheRegionAndReachesItsEnds) {
  const Box region = {{2, 0, 5}, {8, 10, 20}};
  std::set<int64_t> depths;
  for (uint64_t i = 0; i < 300; ++i) {
    const VolumeView view = draw_volume_view(kEverything, region, {4, 6, 15}, Random(i));
    const Box part = {view.begin, {view.begin[0] + 4, view.begin[1] + 6, view.begin[2] + 15}};
    EXPECT_EQ(intersection(part, region), part);
    depths.insert(view.begin[0]);
  }
  EXPECT_EQ(depths, (std::set<int64_t>{2, 3, 4}));
}

TEST(VolumeView, IsTurnedByAQuarterOnlyWhereTheWindowIsSquare) {
  const Box region = whole({10, 40, 40});
  const VolumeAugmentation rotate = {.rotate = true};
  std::set<std::array<bool, 3>> square, oblong;
  for (uint64_t i = 0; i < 100; ++i) {
    const VolumeView a = draw_volume_view(rotate, region, {4, 16, 16}, Random(i)),
                     b = draw_volume_view(rotate, region, {4, 16, 24}, Random(i));
    square.insert({a.transposed, a.flipped[1], a.flipped[2]});
    oblong.insert({b.transposed, b.flipped[1], b.flipped[2]});
    EXPECT_FALSE(a.flipped[0] || a.elastic);
  }
  using Turns = std::set<std::array<bool, 3>>;
  EXPECT_EQ(square,
            (Turns{{false, false, false}, {true, true, false}, {false, true, true}, {true, false, true}}));
  EXPECT_EQ(oblong, (Turns{{false, false, false}, {false, true, true}}));
}

TEST(VolumeAugmentation, IsAListOfWords) {
  EXPECT_FALSE(parse_volume_augmentation("none").flip);
  const VolumeAugmentation some = parse_volume_augmentation("elastic,flip");
  EXPECT_TRUE(some.flip && some.elastic && !some.rotate);
  EXPECT_TRUE(parse_volume_augmentation(kAllVolumeAugmentation).rotate);
  EXPECT_THROW(parse_volume_augmentation("crop"), UserError);
}

}  // namespace
}  // namespace tacho
