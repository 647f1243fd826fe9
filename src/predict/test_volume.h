#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "volume/copy_box.h"
#include "volume/test_voxels.h"

namespace tacho {

// Voxels in memory, for tests.
class MemoryVolume : public Volume {
 public:
  explicit MemoryVolume(const Point& shape, VoxelType type = VoxelType::u8, uint64_t seed = 0)
      : info_{.shape = shape, .type = type, .name = "memory"},
        voxels_(voxels_of(type, voxels(shape), seed)) {}

  const VolumeInfo& info() const override { return info_; }

  void read(const Box& box, std::span<std::byte> to) override {
    copy_box(box, voxels_, whole(info_.shape), to, box, size_of(info_.type));
  }

 private:
  VolumeInfo info_;
  Bytes voxels_;
};

}  // namespace tacho
