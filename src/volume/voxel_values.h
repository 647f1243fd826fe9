#pragma once

#include <optional>
#include <span>

#include "volume/volume.h"

namespace tacho {

// What is subtracted from a voxel as it is stored, and by what the rest is divided.
struct VoxelNormalization {
  double mean = 0, deviation = 1;
};

// Without one: integers are scaled to 0..1 by their type's range, floats are taken as they are. Throws
// UserError for a type that no image has.
VoxelNormalization default_normalization(VoxelType type);

// Voxels as they are stored become what a network takes.
void to_floats(std::span<const std::byte> voxels, VoxelType type, const VoxelNormalization& normalization,
               std::span<float> values);

// A network's result, 0 to 1, as it is stored: uint8 is 255 times it, rounded, halves to even.
void from_floats(std::span<const float> values, VoxelType type, std::span<std::byte> voxels);

}  // namespace tacho
