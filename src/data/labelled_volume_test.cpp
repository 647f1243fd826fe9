#include "data/labelled_volume.h"

#include <gmock/gmock.h>

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
