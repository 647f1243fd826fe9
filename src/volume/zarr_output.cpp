#include "volume/zarr_output.h"

#include <algorithm>
#include <cassert>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "volume/copy_box.h"
#include "volume/zarr_metadata.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArray = "0";
constexpr char kSeparator = '/';
constexpr int kIndent = 2;

ZarrArray array_of(const ZarrDescription& description) {
  const auto with_channels = [&](const Point& point) {
    return std::vector<int64_t>{description.channels, point[0], point[1], point[2]};
  };
  return {.shape = with_channels(description.shape),
          .chunk = with_channels(description.chunk),
          .type = description.type,
          .compression = description.compression,
          .separator = kSeparator,
          .fill_value = {}};
}

// The files of the group and what they hold. The group's own is last: where it is, the others are.
struct MetadataFile {
  fs::path path;
  Json json;
};

std::vector<MetadataFile> metadata_of(const ZarrDescription& description) {
  return {{fs::path(kArray) / ".zarray", zarr_array_json(array_of(description))},
          {".zattrs", ome_json(description.name, {kArray, description.voxel_size})},
          {".zgroup", {{"zarr_format", 2}}}};
}

void refuse_unless_empty(const fs::path& folder) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw UserError("{}: is a file; name a directory that is not there yet", folder.string());
  const bool empty = fs::is_empty(folder, error);
  if (error) throw UserError("{}: {}", folder.string(), error.message());
  if (!empty) throw UserError("{}: is there already and not empty; name another directory", folder.string());
}

// "'chunks' is [1,8,8,8], not [1,4,4,4]" for the first entry that differs; empty where none does. Names may.
std::string difference(const Json& found, const Json& expected) {
  for (const auto& [key, value] : expected.items()) {
    if (key == "name") continue;
    const Json other = found.is_object() ? found.value(key, Json()) : Json();
    if (other != value) return fmt::format("'{}' is {}, not {}", key, to_text(other), to_text(value));
  }
  return "";
}

// Of .zattrs others may add to what this program wrote; its image is what counts.
Json image_of(const Json& attributes) {
  const auto images = attributes.find("multiscales");
  if (images == attributes.end() || !images->is_array() || images->empty()) return {};
  return images->front();
}

void refuse_difference(const fs::path& file, const Json& found, const Json& expected) {
  const bool has_image = expected.contains("multiscales");
  const std::string what =
      has_image ? difference(image_of(found), image_of(expected)) : difference(found, expected);
  if (!what.empty()) throw UserError("{}: {}", file.string(), what);
}

size_t channel_bytes(const ZarrDescription& description, const Point& size) {
  return static_cast<size_t>(voxels(size)) * size_of(description.type);
}

// A chunk at the end of the volume is as large as all others: zeros follow its voxels.
std::vector<std::byte> padded_to_chunk(const ZarrDescription& description, const Point& size,
                                       std::span<const std::byte> voxels) {
  const Box part = whole(size), cell = whole(description.chunk);
  const size_t part_bytes = channel_bytes(description, size),
               cell_bytes = channel_bytes(description, description.chunk);
  const auto channels = static_cast<size_t>(description.channels);
  std::vector<std::byte> padded(channels * cell_bytes);
  for (size_t c = 0; c < channels; ++c) {
    copy_box(part, voxels.subspan(c * part_bytes, part_bytes), part,
             std::span(padded).subspan(c * cell_bytes, cell_bytes), cell, size_of(description.type));
  }
  return padded;
}

}  // namespace

ZarrOutput::ZarrOutput(fs::path folder, ZarrDescription description)
    : folder_(std::move(folder)), description_(std::move(description)) {}

void ZarrOutput::check(const fs::path& folder, const ZarrDescription& description) {
  const fs::path file = folder / kArray / ".zarray";
  parse_zarr_array(zarr_array_json(array_of(description)), file.string());
}

ZarrOutput ZarrOutput::create(const fs::path& folder, const ZarrDescription& description) {
  check(folder, description);
  refuse_unless_empty(folder);
  return complete(folder, description);
}

ZarrOutput ZarrOutput::complete(const fs::path& folder, const ZarrDescription& description) {
  make_folders(folder / kArray);
  for (const auto& [path, json] : metadata_of(description)) {
    std::error_code none;
    if (!fs::exists(folder / path, none)) write_file_atomically(folder / path, to_text(json, kIndent) + "\n");
  }
  return open(folder, description);
}

ZarrOutput ZarrOutput::open(const fs::path& folder, const ZarrDescription& expected) {
  for (const auto& [path, json] : metadata_of(expected)) {
    const fs::path file = folder / path;
    refuse_difference(file, read_json_file(file), json);
  }
  return {folder, expected};
}

Point ZarrOutput::chunks() const {
  Point count;
  for (size_t axis = 0; axis < count.size(); ++axis) {
    count[axis] = (description_.shape[axis] - 1) / description_.chunk[axis] + 1;
  }
  return count;
}

Box ZarrOutput::box_of(const Point& index) const {
  Box cell;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    cell.begin[axis] = index[axis] * description_.chunk[axis];
    cell.end[axis] = std::min(cell.begin[axis] + description_.chunk[axis], description_.shape[axis]);
  }
  return cell;
}

ZarrOutput::Written ZarrOutput::write_chunk(const Point& index, std::span<const std::byte> voxels) const {
  const Box inside = box_of(index);
  assert(voxels.size() ==
         channel_bytes(description_, inside.size()) * static_cast<size_t>(description_.channels));
  std::vector<std::byte> padded;
  if (inside.size() != description_.chunk) {
    padded = padded_to_chunk(description_, inside.size(), voxels);
    voxels = padded;
  }
  const std::vector<std::byte> encoded = encode(description_.compression, voxels, size_of(description_.type));
  const fs::path file = file_of(index);
  make_folders(file.parent_path());
  write_file_atomically(file, [&](const ByteSink& sink) { sink(encoded); });
  return {static_cast<int64_t>(encoded.size()), crc32_of(encoded)};
}

std::optional<ZarrOutput::Written> ZarrOutput::stored(const Point& index) const {
  const fs::path file = file_of(index);
  std::error_code error;
  if (!fs::exists(file, error)) return {};
  const std::string content = read_file(file);
  return Written{static_cast<int64_t>(content.size()), crc32_of(std::as_bytes(std::span(content)))};
}

fs::path ZarrOutput::file_of(const Point& index) const {
  return folder_ / kArray / "0" / std::to_string(index[0]) / std::to_string(index[1]) /
         std::to_string(index[2]);
}

}  // namespace tacho
