#pragma once

#include <optional>
#include <string>

#include "volume/hdf5_handle.h"
#include "volume/voxel_type.h"

namespace tacho {

// Nothing for types that no volume has. Of either byte order.
std::optional<VoxelType> voxel_type_of(const Hdf5Handle& type);

// This machine's type of HDF5's.
hid_t native_type(VoxelType type);

// "float64", "string": for errors.
std::string describe_type(const Hdf5Handle& type);

}  // namespace tacho
