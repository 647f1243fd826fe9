#include "volume/voxel_type.h"

namespace tacho {
namespace {

struct Description {
  std::string_view name;
  size_t size;
};

// In the order of the enumeration.
constexpr std::array<Description, kVoxelTypes.size()> kDescriptions = {
    {{"uint8", 1}, {"uint16", 2}, {"uint32", 4}, {"uint64", 8}, {"int64", 8}, {"float32", 4}}};

const Description& description_of(VoxelType type) { return kDescriptions.at(static_cast<size_t>(type)); }

}  // namespace

size_t size_of(VoxelType type) { return description_of(type).size; }

std::string_view name_of(VoxelType type) { return description_of(type).name; }

std::string list_of_voxel_types() {
  std::string list;
  for (const VoxelType type : kVoxelTypes) {
    if (!list.empty()) list += type == kVoxelTypes.back() ? " and " : ", ";
    list += name_of(type);
  }
  return list;
}

}  // namespace tacho
