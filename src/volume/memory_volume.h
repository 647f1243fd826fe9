#pragma once

#include <vector>

#include "volume/volume.h"

namespace tacho {

// Voxels in memory: any number of threads may read at once.
class MemoryVolume final : public Volume {
 public:
  MemoryVolume(VolumeInfo info, std::vector<std::byte> voxels);

  const VolumeInfo& info() const override { return info_; }
  void read(const Box& box, std::span<std::byte> voxels) override;

 private:
  VolumeInfo info_;
  std::vector<std::byte> voxels_;
};

int64_t bytes_of(const VolumeInfo& info);

// All of a volume.
std::unique_ptr<MemoryVolume> into_memory(Volume& volume);

}  // namespace tacho
