#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "volume/box.h"

namespace tacho {

// Told how much of 1 is done; answers whether to go on.
using MakeProgress = std::function<bool(double share_done)>;

// Writes a made-up volume of neurons with the layout of CREMI's files: the image, and the number of the
// neuron that each voxel belongs to. The same seed and shape make the same voxels. False, and nothing is left
// behind, where `progress` said no. Throws UserError also where this build has no HDF5.
bool make_cremi(const std::filesystem::path& file, const Point& shape, uint64_t seed,
                const MakeProgress& progress);

}  // namespace tacho
