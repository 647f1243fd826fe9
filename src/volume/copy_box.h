#pragma once

#include <cstddef>
#include <span>

#include "volume/box.h"

namespace tacho {

// Copies the voxels of `part`, which lies in both boxes, from the row-major voxels of one box to those of the
// other.
void copy_box(const Box& part, std::span<const std::byte> source, const Box& source_box,
              std::span<std::byte> target, const Box& target_box, size_t voxel_bytes);

// Repeats the bytes of one voxel over `part` of the row-major voxels of `target_box`.
void fill_box(const Box& part, std::span<const std::byte> voxel, std::span<std::byte> target,
              const Box& target_box);

}  // namespace tacho
