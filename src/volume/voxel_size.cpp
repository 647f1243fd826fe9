#include "volume/voxel_size.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tacho {

std::optional<VoxelSize> checked_voxel_size(const std::vector<double>& size, std::string unit) {
  const bool right =
      size.size() == 3 && std::ranges::all_of(size, [](double s) { return std::isfinite(s) && s > 0; });
  if (!right) return {};
  return VoxelSize{{size[0], size[1], size[2]}, std::move(unit)};
}

}  // namespace tacho
