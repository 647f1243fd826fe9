#include "volume/copy_box.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "volume/test_voxels.h"

namespace tacho {
namespace {

TEST(CopyBox, CopiesThePartThatBothHold) {
  const Box source_box = {{1, 1, 1}, {3, 3, 4}}, target_box = {{2, 0, 2}, {3, 3, 5}};
  const Bytes source = bytes_of<uint16_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  Bytes target(9 * sizeof(uint16_t));
  copy_box(intersection(source_box, target_box), source, source_box, target, target_box, sizeof(uint16_t));
  EXPECT_EQ(target, bytes_of<uint16_t>({0, 0, 0, 8, 9, 0, 11, 12, 0}));
}

TEST(CopyBox, FillsAPartWithOneVoxel) {
  const Box box = {{0, 0, 0}, {1, 2, 3}};
  Bytes target(6 * sizeof(uint16_t));
  fill_box({{0, 1, 1}, {1, 2, 3}}, bytes_of<uint16_t>({0x0102}), target, box);
  EXPECT_EQ(target, bytes_of<uint16_t>({0, 0, 0, 0, 0x0102, 0x0102}));
}

TEST(CopyBox, ABoxOfNothingChangesNothing) {
  const Box box = {{0, 0, 0}, {1, 1, 1}};
  Bytes target = bytes_of<uint8_t>({7});
  copy_box({{5, 5, 5}, {5, 6, 6}}, bytes_of<uint8_t>({1}), box, target, box, 1);
  fill_box({{5, 5, 5}, {5, 6, 6}}, bytes_of<uint8_t>({1}), target, box);
  EXPECT_EQ(target, bytes_of<uint8_t>({7}));
}

}  // namespace
}  // namespace tacho
