#include "volume/box.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Box, TheIntersectionIsWhatBothHold) {
  EXPECT_EQ(intersection({{0, 0, 0}, {4, 5, 6}}, {{-1, 2, 3}, {9, 4, 9}}), (Box{{0, 2, 3}, {4, 4, 6}}));
}

TEST(Box, BoxesThatDoNotMeetHaveNothingInCommon) {
  EXPECT_EQ(voxels(intersection({{0, 0, 0}, {4, 4, 4}}, {{7, 0, 0}, {9, 4, 4}})), 0);
}

}  // namespace
}  // namespace tacho
