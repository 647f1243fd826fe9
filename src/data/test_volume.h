#pragma once

#include <cstring>
#include <functional>
#include <vector>

#include "data/labelled_volume.h"
#include "volume/memory_volume.h"

namespace tacho {

// A volume in memory for tests, whose voxel at (z, y, x) is `value`.
template<typename T>
std::unique_ptr<MemoryVolume> test_volume(const Point& shape, VoxelType type,
                                          const std::function<T(int64_t z, int64_t y, int64_t x)>& value) {
  std::vector<std::byte> bytes;
  for (int64_t z = 0; z < shape[0]; ++z) {
    for (int64_t y = 0; y < shape[1]; ++y) {
      for (int64_t x = 0; x < shape[2]; ++x) {
        const T voxel = value(z, y, x);
        bytes.resize(bytes.size() + sizeof(T));
        std::memcpy(bytes.data() + bytes.size() - sizeof(T), &voxel, sizeof(T));
      }
    }
  }
  return std::make_unique<MemoryVolume>(VolumeInfo{.shape = shape, .type = type, .name = "test"},
                                        std::move(bytes));
}

// Boxes of 3x5x5 voxels, each an object, whose image says which: 20 times its label.
inline LabelledVolume boxes_volume(const Point& shape) {
  const auto label = [](int64_t z, int64_t y, int64_t x) {
    return 1 + (z / 3 + 3 * (y / 5) + 5 * (x / 5)) % 12;
  };
  return {test_volume<uint8_t>(
              shape, VoxelType::u8,
              [=](int64_t z, int64_t y, int64_t x) { return static_cast<uint8_t>(20 * label(z, y, x)); }),
          test_volume<uint64_t>(shape, VoxelType::u64, [=](int64_t z, int64_t y, int64_t x) {
            return static_cast<uint64_t>(label(z, y, x));
          })};
}

}  // namespace tacho
