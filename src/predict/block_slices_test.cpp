#include "predict/block_slices.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/base64.h"

namespace tacho {
namespace {

std::string pixels(const std::vector<uint8_t>& bytes) { return to_base64(bytes); }

TEST(BlockSlices, ShowTheMiddleSectionOfTheInputAndTheLeastAndGreatestOfTheChannels) {
  // Three sections of 1x2 voxels, with one voxel more on every side of the input.
  const Box block = {{10, 0, 4}, {13, 1, 6}}, input_box = {{9, -1, 3}, {14, 2, 7}};
  std::vector<float> input(static_cast<size_t>(voxels(input_box)), 100);
  const auto at = [](int64_t z, int64_t y, int64_t x) { return static_cast<size_t>((z * 3 + y) * 4 + x); };
  input[at(2, 1, 1)] = -3;
  input[at(2, 1, 2)] = 7;
  const std::vector<float> result = {9, 9, 0.2f, 1, 9, 9, 9, 9, 0.6f, 0, 9, 9};
  const std::vector<VolumeSlice> slices = block_slices(block, input_box, input, result);
  ASSERT_EQ(slices.size(), 3u);
  for (const VolumeSlice& slice : slices) {
    EXPECT_EQ(slice.width, 2);
    EXPECT_EQ(slice.height, 1);
  }
  EXPECT_EQ(slices[0].name, "input");
  EXPECT_EQ(slices[0].pixels, pixels({0, 255}));
  EXPECT_EQ(slices[1].pixels, pixels({51, 0}));
  EXPECT_EQ(slices[2].pixels, pixels({153, 255}));
}

TEST(BlockSlices, OfALargeBlockShowItsMiddle) {
  EXPECT_EQ(pictured({{0, 100, 0}, {64, 100 + kSliceSide + 20, 30}}),
            (Box{{32, 110, 0}, {33, 110 + kSliceSide, 30}}));
}

TEST(BlockSlices, OfAnInputWithoutContrastAreBlack) {
  const Box block = {{0, 0, 0}, {1, 1, 1}};
  const float gray = 0.5f;
  EXPECT_EQ(block_slices(block, block, {&gray, 1}, {&gray, 1})[0].pixels, pixels({0}));
}

}  // namespace
}  // namespace tacho
