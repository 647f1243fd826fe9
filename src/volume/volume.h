#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "volume/box.h"
#include "volume/voxel_size.h"
#include "volume/voxel_type.h"

namespace tacho {

struct VolumeInfo {
  Point shape = {};
  VoxelType type = VoxelType::u8;
  std::optional<Point> chunk = {};  // nothing where the voxels are stored in one piece
  std::optional<VoxelSize> voxel_size = {};
  // Where its first voxel lies, in voxels; nothing where the file does not say.
  std::optional<std::array<double, 3>> offset = {};
  std::string name = {};  // as messages call it: "a.h5:/volumes/raw"
};

inline constexpr size_t kMostListed = 20;  // arrays of a file that an error names

// A three-dimensional array on disk, of which parts are read. By one thread at a time.
class Volume {
 public:
  virtual ~Volume() = default;
  virtual const VolumeInfo& info() const = 0;
  // The voxels of a box inside the volume, row-major, in their own type and this machine's byte order. Throws
  // UserError where the file is damaged.
  virtual void read(const Box& box, std::span<std::byte> voxels) = 0;
};

// `F.h5:/path`, or `F.h5` where CREMI's /volumes/raw is meant; `DIR.zarr:/path`, or `DIR.zarr` of an array or
// of an OME-NGFF group, whose first array it is. Throws UserError that says what is there instead.
std::unique_ptr<Volume> open_volume(std::string_view specification);

}  // namespace tacho
