#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "volume/codec.h"
#include "volume/volume.h"

// What zarr v2 and OME-NGFF 0.4 keep in JSON beside the chunks.
namespace tacho {

// An array of any rank, as its .zarray tells.
struct ZarrArray {
  std::vector<int64_t> shape, chunk;
  VoxelType type = VoxelType::u8;
  bool swapped = false;  // stored in the other byte order than this machine's
  Compression compression = Compression::none;
  char separator = '.';               // between the numbers in a chunk's name
  std::vector<std::byte> fill_value;  // of one voxel, in this machine's byte order
};

int64_t chunk_bytes(const ZarrArray& array);

// Throws UserError that begins with `file` for what is malformed, what tacho cannot read, and chunks that are
// larger than kMostChunkBytes.
ZarrArray parse_zarr_array(const Json& json, const std::string& file);
// For little-endian machines.
Json zarr_array_json(const ZarrArray& array);

// One resolution of an OME-NGFF group.
struct OmeDataset {
  std::string path;
  std::optional<VoxelSize> voxel_size;
};

// Those of the first image of a group's .zattrs; empty where it is no such group. Paths that would lead out
// of the group are refused: UserError that begins with `file`.
std::vector<OmeDataset> parse_ome_datasets(const Json& attributes, const std::string& file);
// The .zattrs of an image with one dataset of axes c, z, y, x.
Json ome_json(const std::string& name, const OmeDataset& dataset);

// The size that an array's own attribute `resolution` tells, as CREMI's do.
std::optional<VoxelSize> parse_resolution(const Json& attributes);

// Positive and finite, as a voxel's size must be; nothing otherwise.
std::optional<VoxelSize> checked_voxel_size(const std::vector<double>& size, std::string unit);

// What both files hold. UserError where the text is no JSON object.
Json read_json_file(const std::filesystem::path& path);
// An empty object where there is no such file.
Json read_json_file_if_present(const std::filesystem::path& path);

}  // namespace tacho
