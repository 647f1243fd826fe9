#include "session/volume_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

TEST(VolumeWork, IsThePublishedOneAtFullScale) {
  const VolumeWork work = volume_work("unet3d", 1);
  EXPECT_EQ(work.iterations, 1001);
  EXPECT_EQ(work.window, (Point{40, 432, 432}));
  EXPECT_EQ(work.predicted, (Point{200, 3072, 3072}));
  EXPECT_EQ(what_was_shrunk(work), "");
}

TEST(VolumeWork, SaysWhatAScaleMakesSmaller) {
  const VolumeWork work = volume_work("unet3d", 0.125);
  EXPECT_EQ(work.iterations, 125);
  EXPECT_EQ(work.window, (Point{20, 216, 216}));
  EXPECT_EQ(work.predicted, (Point{100, 1536, 1536}));
  EXPECT_EQ(what_was_shrunk(work),
            "125 iterations instead of 1001; windows of 20x216x216 instead of 40x432x432 (12 % of the "
            "voxels); a predicted volume of 100x1536x1536 instead of 200x3072x3072 (12 % of the voxels)");
}

TEST(VolumeWork, SaysSharesWithoutExponents) {
  EXPECT_THAT(what_was_shrunk(volume_work("unet3d", 0.999)), HasSubstr("(100 % of the voxels)"));
  EXPECT_THAT(what_was_shrunk(volume_work("unet3d", 0.001)), HasSubstr("(0.12 % of the voxels)"));
}

TEST(VolumeWork, NamesTheNetworkThatTookThePlaceOfThePublishedOne) {
  EXPECT_THAT(what_was_shrunk(volume_work("unet3d_lite", 1)), HasSubstr("unet3d_lite instead of unet3d"));
}

TEST(VolumeWork, SaysWhereTheNetworkTakesNoPublishedBlock) {
  VolumeWork work = volume_work("unet3d", 1);
  work.published_halo = true;
  EXPECT_EQ(published_block(work.model), kPublishedBlock);
  EXPECT_EQ(what_was_shrunk(work), "");
  work.model = "unet3d_lite";
  EXPECT_EQ(published_block(work.model), (Point{54, 572, 572}));
  EXPECT_THAT(what_was_shrunk(work), HasSubstr("; blocks of 54x572x572 instead of 55x575x575 (97 % of"));
}

TEST(VolumeWork, HasRoomForItsWindowsAtTheSmallestScale) {
  for (const char* model : {"unet3d", "unet3d_lite"}) {
    const VolumeWork work = volume_work(model, 1e-9);
    EXPECT_EQ(work.iterations, 1);
    EXPECT_GT(voxels(work.window), 0);
    EXPECT_GE(work.sample[0], 2 * work.window[0]);
  }
}

TEST(VolumeWork, RefusesNetworksForImages) { EXPECT_THROW(volume_work("resnet18", 1), UserError); }

}  // namespace
}  // namespace tacho
