#pragma once

#include <span>

#include "volume/box.h"

// A volume that is mirrored at its edges without end, the edge voxel not repeated: numpy's 'reflect'.
namespace tacho {

// The position in [0, extent) whose voxel is seen at `position`; an extent of 1 is constant.
int64_t mirrored(int64_t position, int64_t extent);

// The smallest box of the volume that holds all voxels seen in `wanted`.
Box source_box(const Box& wanted, const Point& volume);

// Fills `to`, the voxels of `wanted`, from those of `source`, which holds source_box(wanted, volume).
void mirror_into(const Box& wanted, const Point& volume, const Box& source, std::span<const float> from,
                 std::span<float> to);

// Copies the voxels of `part`, which lies in both boxes, from one to the other.
void copy_part(const Box& part, const Box& source, std::span<const float> from, const Box& target,
               std::span<float> to);

// Fills `to`, the voxels of `wanted`, from those of `source`, with zeros outside of it.
void place_into(const Box& wanted, const Box& source, std::span<const float> from, std::span<float> to);

}  // namespace tacho
