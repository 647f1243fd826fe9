#include "volume/hdf5_type.h"

#include <fmt/format.h>

namespace tacho {

std::optional<VoxelType> voxel_type_of(const Hdf5Handle& type) {
  const std::string name = describe_type(type);
  for (const VoxelType known : kVoxelTypes) {
    if (name_of(known) == name) return known;
  }
  return {};
}

hid_t native_type(VoxelType type) {
  switch (type) {
    case VoxelType::u8: return H5T_NATIVE_UINT8;
    case VoxelType::u16: return H5T_NATIVE_UINT16;
    case VoxelType::u32: return H5T_NATIVE_UINT32;
    case VoxelType::u64: return H5T_NATIVE_UINT64;
    case VoxelType::i64: return H5T_NATIVE_INT64;
    case VoxelType::f32: break;
  }
  return H5T_NATIVE_FLOAT;
}

std::string describe_type(const Hdf5Handle& type) {
  const size_t bits = 8 * H5Tget_size(type.id());
  switch (H5Tget_class(type.id())) {
    case H5T_INTEGER: return fmt::format("{}int{}", H5Tget_sign(type.id()) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_FLOAT: return fmt::format("float{}", bits);
    case H5T_STRING: return "string";
    case H5T_COMPOUND: return "compound";
    case H5T_ENUM: return "enumeration";
    default: return "of another kind";
  }
}

}  // namespace tacho
