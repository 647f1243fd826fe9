#include "data/labelled_volume.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/error.h"
#include "data/test_volume.h"

namespace tacho {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::unique_ptr<Volume> zeros(const Point& shape, VoxelType type) {
  std::vector<std::byte> bytes(static_cast<size_t>(voxels(shape)) * size_of(type));
  return std::make_unique<MemoryVolume>(VolumeInfo{.shape = shape, .type = type, .name = "v.h5:/x"},
                                        std::move(bytes));
}

void expect_refusal(const Point& raw, VoxelType raw_type, const Point& labels, VoxelType label_type,
                    const char* words) {
  EXPECT_THAT([&] { LabelledVolume(zeros(raw, raw_type), zeros(labels, label_type)); },
              ThrowsMessage<UserError>(HasSubstr(words)));
}

TEST(LabelledVolume, RefusesWhatIsNoPair) {
  const Point small = {2, 3, 4}, other = {2, 3, 5};
  expect_refusal(small, VoxelType::u8, other, VoxelType::u64,
                 "labels of 2x3x5 voxels, but v.h5:/x has 2x3x4");
  expect_refusal(small, VoxelType::u64, small, VoxelType::u64, "holds uint64; an image is uint8");
  expect_refusal(small, VoxelType::u8, small, VoxelType::f32, "labels are whole numbers");
}

// Voxels that tell their place.
std::unique_ptr<MemoryVolume> places(const Point& shape) {
  return test_volume<uint8_t>(shape, VoxelType::u8, [](int64_t z, int64_t y, int64_t x) {
    return static_cast<uint8_t>(36 * z + 6 * y + x);
  });
}

std::unique_ptr<Volume> labels_at(const Point& shape, const std::array<double, 3>& offset) {
  const VolumeInfo info = {.shape = shape, .type = VoxelType::u8, .offset = offset, .name = "v.h5:/labels"};
  return std::make_unique<MemoryVolume>(info, std::vector<std::byte>(static_cast<size_t>(voxels(shape))));
}

TEST(LabelledVolume, IsThePartOfTheImageThatHasLabels) {
  for (const bool in_memory : {false, true}) {
    LabelledVolume volume(places({4, 5, 6}), labels_at({2, 3, 2}, {1, 2, 3.0000001}));
    if (in_memory) volume.keep_in_memory();
    EXPECT_EQ(volume.shape(), (Point{2, 3, 2}));
    EXPECT_EQ(volume.bytes(), 2 * 12);
    std::vector<std::byte> raw(2), labels(2);
    volume.read({{1, 2, 0}, {2, 3, 2}}, raw, labels);
    EXPECT_EQ(raw, (std::vector{std::byte{36 * 2 + 6 * 4 + 3}, std::byte{36 * 2 + 6 * 4 + 4}}));
  }
}

TEST(LabelledVolume, RefusesLabelsOutsideOfTheImageAndBetweenItsVoxels) {
  for (const auto& offset : {std::array{3.0, 0.0, 0.0}, {0.0, -1.0, 0.0}, {0.0, 0.0, 0.5}, {NAN, 0.0, 0.0}})
    EXPECT_THAT(
        [&] {
          LabelledVolume(places({4, 5, 6}), labels_at({2, 3, 2}, offset));
        },
        ThrowsMessage<UserError>(HasSubstr("v.h5:/labels: labels of 2x3x2 voxels at ")));
}

TEST(LabelledVolume, IsTheSameFromMemory) {
  LabelledVolume volume = boxes_volume({4, 6, 7});
  const Box box = {{1, 2, 3}, {3, 5, 7}};
  std::vector<std::byte> raw(24), labels(24 * 8), raw_again(24), labels_again(24 * 8);
  volume.read(box, raw, labels);
  volume.keep_in_memory();
  volume.read(box, raw_again, labels_again);
  EXPECT_TRUE(volume.is_in_memory());
  EXPECT_EQ(raw, raw_again);
  EXPECT_EQ(labels, labels_again);
}

TEST(Cremi, IsAFileOrAFileAndTwoPathsInIt) {
  EXPECT_THAT([] { open_cremi("a.h5,/raw"); }, ThrowsMessage<UserError>(HasSubstr("write cremi:F.h5")));
}

}  // namespace
}  // namespace tacho
