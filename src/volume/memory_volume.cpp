#include "volume/memory_volume.h"

#include <cassert>

#include "volume/copy_box.h"

namespace tacho {

MemoryVolume::MemoryVolume(VolumeInfo info, std::vector<std::byte> voxels)
    : info_(std::move(info)), voxels_(std::move(voxels)) {
  assert(static_cast<int64_t>(voxels_.size()) == bytes_of(info_));
}

void MemoryVolume::read(const Box& box, std::span<std::byte> voxels) {
  copy_box(box, voxels_, whole(info_.shape), voxels, box, size_of(info_.type));
}

int64_t bytes_of(const VolumeInfo& info) {
  return voxels(info.shape) * static_cast<int64_t>(size_of(info.type));
}

std::unique_ptr<MemoryVolume> into_memory(Volume& volume) {
  std::vector<std::byte> voxels(static_cast<size_t>(bytes_of(volume.info())));
  volume.read(whole(volume.info().shape), voxels);
  return std::make_unique<MemoryVolume>(volume.info(), std::move(voxels));
}

}  // namespace tacho
