#include "volume/voxel_values.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace tacho {
namespace {

constexpr float kLargestByte = 255;

template<typename T>
void convert(const std::byte* voxels, const VoxelNormalization& normalization, std::span<float> values) {
  const auto* from = reinterpret_cast<const T*>(voxels);
  const auto scale = static_cast<float>(1 / normalization.deviation);
  const auto offset = static_cast<float>(-normalization.mean / normalization.deviation);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(from[i]) * scale + offset;
}

// NaN becomes 0, as a prediction that means nothing.
uint8_t to_byte(float value) {
  return static_cast<uint8_t>(std::nearbyintf(std::fmin(std::fmax(value, 0.0F), 1.0F) * kLargestByte));
}

}  // namespace

VoxelNormalization default_normalization(VoxelType type) {
  switch (type) {
    case VoxelType::u8: return {0, std::numeric_limits<uint8_t>::max()};
    case VoxelType::u16: return {0, std::numeric_limits<uint16_t>::max()};
    case VoxelType::f32: return {0, 1};
    default: break;
  }
  throw UserError("holds {}, but images are uint8, uint16 or float32", name_of(type));
}

void to_floats(std::span<const std::byte> voxels, VoxelType type, const VoxelNormalization& normalization,
               std::span<float> values) {
  assert(voxels.size() == values.size() * size_of(type));
  switch (type) {
    case VoxelType::u8: return convert<uint8_t>(voxels.data(), normalization, values);
    case VoxelType::u16: return convert<uint16_t>(voxels.data(), normalization, values);
    case VoxelType::f32: return convert<float>(voxels.data(), normalization, values);
    default: assert(false && "default_normalization() refuses others");
  }
}

void from_floats(std::span<const float> values, VoxelType type, std::span<std::byte> voxels) {
  assert(voxels.size() == values.size() * size_of(type));
  if (type == VoxelType::f32) {
    std::memcpy(voxels.data(), values.data(), voxels.size());
    return;
  }
  assert(type == VoxelType::u8);
  std::ranges::transform(values, reinterpret_cast<uint8_t*>(voxels.data()), to_byte);
}

}  // namespace tacho
