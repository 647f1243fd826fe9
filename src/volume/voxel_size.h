#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// The extent of a voxel along z, y and x.
struct VoxelSize {
  std::array<double, 3> size = {1, 1, 1};
  std::string unit = {};  // "nanometer"; empty where the file does not say
};

// Nothing unless these are three positive, finite numbers.
std::optional<VoxelSize> checked_voxel_size(const std::vector<double>& size, std::string unit);

}  // namespace tacho
