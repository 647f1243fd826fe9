#include "volume/copy_box.h"

#include <algorithm>
#include <cstring>

namespace tacho {
namespace {

// Of the voxel z, y, x in the voxels of a box.
size_t offset_in(const Box& box, int64_t z, int64_t y, int64_t x, size_t voxel_bytes) {
  const Point size = box.size();
  const int64_t row = (z - box.begin[0]) * size[1] + y - box.begin[1];
  return static_cast<size_t>(row * size[2] + x - box.begin[2]) * voxel_bytes;
}

template<typename Action>
void for_each_row(const Box& part, const Action& action) {
  if (voxels(part) == 0) return;
  for (int64_t z = part.begin[0]; z < part.end[0]; ++z) {
    for (int64_t y = part.begin[1]; y < part.end[1]; ++y) action(z, y);
  }
}

}  // namespace

void copy_box(const Box& part, std::span<const std::byte> source, const Box& source_box,
              std::span<std::byte> target, const Box& target_box, size_t voxel_bytes) {
  const size_t row_bytes = static_cast<size_t>(part.size()[2]) * voxel_bytes;
  for_each_row(part, [&](int64_t z, int64_t y) {
    const auto from = source.subspan(offset_in(source_box, z, y, part.begin[2], voxel_bytes), row_bytes);
    const auto to = target.subspan(offset_in(target_box, z, y, part.begin[2], voxel_bytes), row_bytes);
    std::memcpy(to.data(), from.data(), row_bytes);
  });
}

void fill_box(const Box& part, std::span<const std::byte> voxel, std::span<std::byte> target,
              const Box& target_box) {
  const size_t row_bytes = static_cast<size_t>(part.size()[2]) * voxel.size();
  for_each_row(part, [&](int64_t z, int64_t y) {
    const auto to = target.subspan(offset_in(target_box, z, y, part.begin[2], voxel.size()), row_bytes);
    for (size_t at = 0; at < row_bytes; at += voxel.size()) std::memcpy(&to[at], voxel.data(), voxel.size());
  });
}

}  // namespace tacho
