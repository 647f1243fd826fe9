#include "volume/zarr_volume.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "volume/chunk_cache.h"
#include "volume/copy_box.h"
#include "volume/zarr_metadata.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// How many arrays an error lists.

// The last three of at least as many extents.
Point last_three(const std::vector<int64_t>& extents) {
  const size_t n = extents.size();
  return {extents[n - 3], extents[n - 2], extents[n - 1]};
}

void swap_bytes(std::vector<std::byte>& values, size_t value_bytes) {
  for (size_t i = 0; i < values.size(); i += value_bytes) std::reverse(&values[i], &values[i] + value_bytes);
}

class ZarrVolume : public Volume {
 public:
  ZarrVolume(fs::path folder, ZarrArray array, VolumeInfo info, size_t cache_bytes)
      : folder_(std::move(folder)), array_(std::move(array)), info_(std::move(info)), cache_(cache_bytes) {}

  const VolumeInfo& info() const override { return info_; }
  void read(const Box& box, std::span<std::byte> voxels) override;

 private:
  void read_from_chunk(const Point& index, const Box& box, std::span<std::byte> voxels);
  // Null where its file is absent.
  ChunkCache::Chunk chunk_at(const Point& index);
  ChunkCache::Chunk decoded(const fs::path& file) const;
  fs::path file_of(const Point& index) const;

  fs::path folder_;
  ZarrArray array_;
  VolumeInfo info_;
  ChunkCache cache_;
};

void ZarrVolume::read(const Box& box, std::span<std::byte> voxels) {
  assert(intersection(box, whole(info_.shape)) == box);
  assert(voxels.size() == static_cast<size_t>(tacho::voxels(box)) * size_of(info_.type));
  if (tacho::voxels(box) == 0) return;
  const Point& chunk = *info_.chunk;
  const auto first = [&](int axis) { return box.begin[axis] / chunk[axis]; };
  const auto last = [&](int axis) { return (box.end[axis] - 1) / chunk[axis]; };
  for (int64_t z = first(0); z <= last(0); ++z) {
    for (int64_t y = first(1); y <= last(1); ++y) {
      for (int64_t x = first(2); x <= last(2); ++x) read_from_chunk({z, y, x}, box, voxels);
    }
  }
}

void ZarrVolume::read_from_chunk(const Point& index, const Box& box, std::span<std::byte> voxels) {
  Box cell;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    cell.begin[axis] = index[axis] * (*info_.chunk)[axis];
    cell.end[axis] = cell.begin[axis] + (*info_.chunk)[axis];
  }
  const Box part = intersection(cell, box);
  if (const ChunkCache::Chunk chunk = chunk_at(index)) {
    copy_box(part, *chunk, cell, voxels, box, size_of(info_.type));
  } else {
    fill_box(part, array_.fill_value, voxels, box);
  }
}

ChunkCache::Chunk ZarrVolume::chunk_at(const Point& index) {
  const auto along = [&](int axis) { return (info_.shape[axis] - 1) / (*info_.chunk)[axis] + 1; };
  const int64_t number = (index[0] * along(1) + index[1]) * along(2) + index[2];
  if (ChunkCache::Chunk held = cache_.find(number)) return held;
  const fs::path file = file_of(index);
  std::error_code error;
  if (fs::status(file, error).type() == fs::file_type::not_found) return nullptr;
  ChunkCache::Chunk chunk = decoded(file);
  cache_.keep(number, chunk);
  return chunk;
}

ChunkCache::Chunk ZarrVolume::decoded(const fs::path& file) const {
  const auto size = static_cast<size_t>(chunk_bytes(array_));
  std::error_code error;
  // No codec makes data much larger, and nobody waits for a file that cannot be a chunk.
  if (const uintmax_t stored = fs::file_size(file, error); !error && stored > 2 * size + 4096) {
    throw UserError("{}: the chunk has {} bytes, though it decodes to {}", file.string(), stored, size);
  }
  const std::string stored = read_file(file);
  auto chunk = std::make_shared<std::vector<std::byte>>(size);
  try {
    decode(array_.compression, std::as_bytes(std::span(stored)), *chunk);
  } catch (const UserError& problem) {
    throw UserError("{}: the chunk is damaged: it {}", file.string(), problem.what());
  }
  if (array_.swapped) swap_bytes(*chunk, size_of(array_.type));
  return chunk;
}

fs::path ZarrVolume::file_of(const Point& index) const {
  std::string name;
  for (size_t axis = 3; axis < array_.shape.size(); ++axis) name += fmt::format("0{}", array_.separator);
  name += fmt::format("{}{}{}{}{}", index[0], array_.separator, index[1], array_.separator, index[2]);
  return folder_ / name;
}

bool holds(const fs::path& folder, const char* file) {
  std::error_code error;
  return fs::exists(folder / file, error);
}

// " /raw (40x216x216 uint8)" for each array below a group.
std::string list_arrays(const fs::path& folder, const std::string& inside = "") {
  std::string list;
  size_t listed = 0;
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder.string() + inside, error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& child : folders) {
    const std::string path = inside + "/" + child.filename().string();
    if (holds(child, ".zarray") && ++listed <= kMostListed) {
      const Json json = parse_json(read_file_if_present(child / ".zarray"));
      const auto text = [&](const char* name) {
        return json.is_object() ? to_text(json.value(name, Json())) : "?";
      };
      list += fmt::format(" {} ({} {})", path, text("shape"), text("dtype"));
    } else if (holds(child, ".zgroup")) {
      list += list_arrays(folder, path);
    }
  }
  return list;
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  const std::string name = folder.string();
  std::error_code error;
  if (!fs::is_directory(folder, error)) throw UserError("{}: there is no such array", name);
  if (holds(folder, "zarr.json")) throw UserError("{}: is zarr v3; tacho reads zarr v2", name);
  if (!holds(folder, ".zgroup"))
    throw UserError("{}: holds neither .zarray nor .zgroup, as zarr v2 does", name);
  const std::string arrays = list_arrays(folder);
  throw UserError("{}: is a group and no OME-NGFF image; its arrays:{}", name,
                  arrays.empty() ? " none" : arrays);
}

VolumeInfo info_of(const ZarrArray& array, const std::string& name) {
  const size_t rank = array.shape.size();
  const bool is_volume =
      rank >= 3 && std::all_of(array.shape.begin(), array.shape.end() - 3, [](int64_t n) { return n == 1; });
  if (!is_volume) {
    throw UserError("{}: has the shape {}; a volume has axes z,y,x, or c,z,y,x with one channel", name,
                    to_text(json_of(array.shape)));
  }
  return {
      .shape = last_three(array.shape), .type = array.type, .chunk = last_three(array.chunk), .name = name};
}

// As the group around an array tells it.
std::optional<VoxelSize> size_in_group(const fs::path& group, const std::string& path) {
  const fs::path file = group / ".zattrs";
  for (const OmeDataset& dataset : parse_ome_datasets(read_json_file_if_present(file), file.string())) {
    if (dataset.path == path) return dataset.voxel_size;
  }
  return {};
}

// "a.zarr:/raw", or "a.zarr" where the folder itself is meant.
std::string specification(const fs::path& folder, const fs::path& path) {
  return path.empty() ? folder.string() : fmt::format("{}:/{}", folder.string(), path.string());
}

std::unique_ptr<Volume> open_array(const fs::path& folder, const fs::path& path,
                                   std::optional<VoxelSize> voxel_size, size_t cache_bytes) {
  const fs::path array_folder = path.empty() ? folder : folder / path;
  const fs::path file = array_folder / ".zarray";
  if (!holds(array_folder, ".zarray")) refuse_folder(array_folder);
  const ZarrArray array = parse_zarr_array(read_json_file(file), file.string());
  VolumeInfo info = info_of(array, specification(folder, path));
  info.voxel_size =
      voxel_size ? voxel_size : parse_resolution(read_json_file_if_present(array_folder / ".zattrs"));
  return std::make_unique<ZarrVolume>(array_folder, array, std::move(info), cache_bytes);
}

}  // namespace

std::unique_ptr<Volume> open_zarr(const fs::path& folder, std::string_view path, size_t cache_bytes) {
  // "a.zarr/" is a.zarr, and "//raw/" is raw.
  const fs::path outer = folder.has_filename() ? folder : folder.parent_path();
  fs::path inner;
  for (const fs::path& name : fs::path(path).relative_path()) {
    if (!name.empty()) inner /= name;
  }
  const fs::path place = inner.empty() ? outer : outer / inner;
  if (holds(place, ".zarray")) {
    return open_array(outer, inner, size_in_group(place.parent_path(), place.filename().string()),
                      cache_bytes);
  }
  const fs::path file = place / ".zattrs";
  const auto datasets = parse_ome_datasets(read_json_file_if_present(file), file.string());
  if (datasets.empty()) refuse_folder(place);
  return open_array(outer, inner / datasets[0].path, datasets[0].voxel_size, cache_bytes);
}

}  // namespace tacho
