#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "volume/codec.h"
#include "volume/volume.h"

namespace tacho {

// What an output holds.
struct ZarrDescription {
  int64_t channels = 1;
  Point shape = {};
  Point chunk = {};  // which has all channels
  VoxelType type = VoxelType::f32;
  // LZ4 inside blosc is by far the fastest, so that the cores are the network's, and every reader of zarr has
  // it.
  Compression compression = Compression::blosc;
  std::optional<VoxelSize> voxel_size = {};
  std::string name = {};
};

// An OME-NGFF 0.4 group (zarr v2) on disk whose array `0` has the axes c, z, y, x.
class ZarrOutput {
 public:
  // Throws UserError where there can be no such output.
  static void check(const std::filesystem::path& folder, const ZarrDescription& description);
  // Makes the group. Throws UserError where `folder` is there and not empty, or cannot be written.
  static ZarrOutput create(const std::filesystem::path& folder, const ZarrDescription& description);
  // The group as open() gives it, after what is missing of its metadata is written: whoever makes it may have
  // been killed.
  static ZarrOutput complete(const std::filesystem::path& folder, const ZarrDescription& description);
  // One that create() made, to go on with it. Throws UserError that says in what it differs from `expected`.
  static ZarrOutput open(const std::filesystem::path& folder, const ZarrDescription& expected);

  const ZarrDescription& description() const { return description_; }
  // How many chunks there are along each axis.
  Point chunks() const;
  // The voxels of the chunk at `index` that are inside the volume.
  Box box_of(const Point& index) const;

  struct Written {
    int64_t bytes = 0;
    uint32_t crc = 0;
    bool operator==(const Written&) const = default;
  };

  // `voxels` are those of box_of(index), with the axes c, z, y, x. When it returns they are on the disk;
  // whatever happens, a chunk is there as a whole or not at all. The same voxels make the same file. Any
  // thread. Throws UserError where the system refuses.
  Written write_chunk(const Point& index, std::span<const std::byte> voxels) const;

  // Of the chunk's file as it is now; nothing where it is absent.
  std::optional<Written> stored(const Point& index) const;

 private:
  ZarrOutput(std::filesystem::path folder, ZarrDescription description);
  std::filesystem::path file_of(const Point& index) const;

  std::filesystem::path folder_;
  ZarrDescription description_;
};

}  // namespace tacho
