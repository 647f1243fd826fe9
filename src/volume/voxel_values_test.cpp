#include "volume/voxel_values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"

namespace tacho {
namespace {

using testing::ElementsAre;

template<typename T>
std::vector<float> floats_of(std::vector<T> voxels, VoxelType type, const VoxelNormalization& normalization) {
  std::vector<float> values(voxels.size());
  to_floats(std::as_bytes(std::span(voxels)), type, normalization, values);
  return values;
}

TEST(VoxelValues, IntegersAreScaledByTheirTypesRange) {
  EXPECT_THAT(floats_of<uint8_t>({0, 51, 255}, VoxelType::u8, default_normalization(VoxelType::u8)),
              ElementsAre(0, testing::FloatEq(0.2F), 1));
  EXPECT_THAT(floats_of<uint16_t>({0, 65535}, VoxelType::u16, default_normalization(VoxelType::u16)),
              ElementsAre(0, 1));
  EXPECT_THAT(floats_of<float>({-3, 0.5}, VoxelType::f32, default_normalization(VoxelType::f32)),
              ElementsAre(-3, 0.5));
}

TEST(VoxelValues, AGivenNormalizationIsInStoredUnits) {
  EXPECT_THAT(floats_of<uint8_t>({100, 120}, VoxelType::u8, {100, 10}), ElementsAre(0, 2));
}

TEST(VoxelValues, LabelsAreNoImage) { EXPECT_THROW(default_normalization(VoxelType::u64), UserError); }

TEST(VoxelValues, BytesAreRoundedAndNeverWrap) {
  const std::vector<float> values = {-1, 0, 0.5F / 255, 1.5F / 255, 0.999F, 1, 7, std::nanf("")};
  std::vector<uint8_t> bytes(values.size());
  from_floats(values, VoxelType::u8, std::as_writable_bytes(std::span(bytes)));
  EXPECT_THAT(bytes, ElementsAre(0, 0, 0, 2, 255, 255, 255, 0));
}

}  // namespace
}  // namespace tacho
