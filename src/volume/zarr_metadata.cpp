#include "volume/zarr_metadata.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Metadata are a few lines; whatever is longer is something else.
constexpr uintmax_t kMostJsonBytes = 16 << 20;

// The part of zarr's type names after the byte order.
std::string_view code_of(VoxelType type) {
  switch (type) {
    case VoxelType::u8: return "u1";
    case VoxelType::u16: return "u2";
    case VoxelType::u32: return "u4";
    case VoxelType::u64: return "u8";
    case VoxelType::i64: return "i8";
    case VoxelType::f32: break;
  }
  return "f4";
}

const Json& entry_of(const Json& object, const char* name) {
  static const Json none;
  const auto found = object.find(name);
  return found == object.end() ? none : *found;
}

// Reads an entry, whose name the error tells.
template<typename T>
void take(const Json& object, const char* name, T& value) {
  try {
    read(entry_of(object, name), value);
  } catch (const UserError& error) {
    throw UserError("'{}' {}", name, error.what());
  }
}

void take_type(const Json& json, ZarrArray& array) {
  std::string dtype;
  if (entry_of(json, "dtype").is_string()) take(json, "dtype", dtype);
  const auto known = std::ranges::find_if(
      kVoxelTypes, [&](VoxelType type) { return dtype.size() == 3 && dtype.substr(1) == code_of(type); });
  if (known == kVoxelTypes.end() || std::string_view("<>|").find(dtype[0]) == std::string_view::npos) {
    throw UserError("'dtype' is {}; tacho reads {}", to_text(entry_of(json, "dtype")), list_of_voxel_types());
  }
  array.type = *known;
  const char foreign = std::endian::native == std::endian::little ? '>' : '<';
  array.swapped = dtype[0] == foreign && size_of(array.type) > 1;
}

void take_compressor(const Json& json, ZarrArray& array) {
  const Json& compressor = entry_of(json, "compressor");
  if (compressor.is_null()) return;
  const Json id = compressor.is_object() ? entry_of(compressor, "id") : Json();
  try {
    array.compression = parse_compression(id.is_string() ? id.get<std::string>() : "");
    if (array.compression != Compression::none) return;
  } catch (const UserError&) {
  }
  throw UserError("'compressor' is {}; tacho reads {}", to_text(id.is_null() ? compressor : id),
                  list_of_compressions());
}

template<typename T>
void store_fill(const Json& value, ZarrArray& array) {
  T number = 0;
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (value == "NaN") {
      number = Limits::quiet_NaN();
    } else if (value == "Infinity" || value == "-Infinity") {
      number = value == "Infinity" ? Limits::infinity() : -Limits::infinity();
    } else if (!value.is_null()) {
      double number64 = 0;
      read(value, number64);
      number = static_cast<T>(number64);
    }
  } else if (value.is_number_float() && value.get<double>() == 0) {
    number = 0;  // as some writers say it
  } else if (!value.is_null()) {
    read(value, number);
  }
  array.fill_value.resize(sizeof(T));
  std::memcpy(array.fill_value.data(), &number, sizeof(T));
}

void take_fill_value(const Json& json, ZarrArray& array) {
  const Json& value = entry_of(json, "fill_value");
  try {
    switch (array.type) {
      case VoxelType::u8: return store_fill<uint8_t>(value, array);
      case VoxelType::u16: return store_fill<uint16_t>(value, array);
      case VoxelType::u32: return store_fill<uint32_t>(value, array);
      case VoxelType::u64: return store_fill<uint64_t>(value, array);
      case VoxelType::i64: return store_fill<int64_t>(value, array);
      case VoxelType::f32: return store_fill<float>(value, array);
    }
  } catch (const UserError& error) {
    throw UserError("'fill_value' {}", error.what());
  }
}

// Their product, if it is at most `most`.
std::optional<int64_t> product(const std::vector<int64_t>& extents, int64_t most) {
  int64_t product = 1;
  for (const int64_t extent : extents) {
    if (extent > most / product) return {};
    product *= extent;
  }
  return product;
}

void take_extents(const Json& json, ZarrArray& array) {
  take(json, "shape", array.shape);
  take(json, "chunks", array.chunk);
  if (array.shape.size() != array.chunk.size()) throw UserError("'shape' and 'chunks' differ in rank");
  for (const auto& [name, extents] : {std::pair("shape", &array.shape), std::pair("chunks", &array.chunk)}) {
    const bool positive = std::ranges::all_of(*extents, [](int64_t extent) { return extent > 0; });
    if (!positive) throw UserError("'{}' is {}; extents must be positive", name, to_text(json_of(*extents)));
  }
  const auto bytes = static_cast<int64_t>(size_of(array.type));
  if (!product(array.shape, std::numeric_limits<int64_t>::max() / bytes)) {
    throw UserError("'shape' is {}: more than can be counted", to_text(json_of(array.shape)));
  }
  if (!product(array.chunk, kMostChunkBytes / bytes)) {
    throw UserError("'chunks' is {}: a chunk may have at most 2 GiB", to_text(json_of(array.chunk)));
  }
}

void take_layout(const Json& json, ZarrArray& array) {
  if (entry_of(json, "order") != "C")
    throw UserError("'order' is {}; tacho reads \"C\"", to_text(entry_of(json, "order")));
  const Json& filters = entry_of(json, "filters");
  if (!filters.is_null() && filters != Json::array())
    throw UserError("'filters' is {}; tacho reads none", to_text(filters));
  const Json& separator = entry_of(json, "dimension_separator");
  if (!separator.is_null() && separator != "." && separator != "/") {
    throw UserError("'dimension_separator' is {} instead of \".\" or \"/\"", to_text(separator));
  }
  array.separator = separator == "/" ? '/' : '.';
}

// The numbers of a list of coordinateTransformations' scale for the last three axes; all 1 where it has none.
std::optional<std::array<double, 3>> scale_of(const Json& transformations) {
  std::array<double, 3> scale = {1, 1, 1};
  if (!transformations.is_array()) return {};
  for (const Json& transformation : transformations) {
    if (!transformation.is_object() || entry_of(transformation, "type") != "scale") continue;
    const Json& numbers = entry_of(transformation, "scale");
    if (!numbers.is_array() || numbers.size() < 3) return {};
    for (size_t axis = 0; axis < 3; ++axis) {
      const Json& number = numbers[numbers.size() - 3 + axis];
      if (!number.is_number()) return {};
      scale[axis] = number.get<double>();
    }
    return scale;
  }
  return {};
}

// Of the last three axes, if they agree.
std::string unit_of(const Json& axes) {
  if (!axes.is_array() || axes.size() < 3) return "";
  const auto unit = [&](size_t from_end) {
    const Json& axis = axes[axes.size() - from_end];
    const Json& name = axis.is_object() ? entry_of(axis, "unit") : axis;
    return axis.is_object() && name.is_string() ? name.get<std::string>() : "";
  };
  return unit(1) == unit(2) && unit(2) == unit(3) ? unit(1) : "";
}

std::optional<VoxelSize> voxel_size_of(const Json& image, const Json& dataset) {
  const auto own = scale_of(entry_of(dataset, "coordinateTransformations"));
  const auto common = scale_of(entry_of(image, "coordinateTransformations"));
  if (!own && !common) return {};
  std::vector<double> size(3, 1.0);
  for (size_t axis = 0; axis < 3; ++axis)
    size[axis] = (own ? (*own)[axis] : 1) * (common ? (*common)[axis] : 1);
  return checked_voxel_size(size, unit_of(entry_of(image, "axes")));
}

bool stays_inside(const fs::path& path) {
  return !path.empty() && path.is_relative() && std::ranges::find(path, fs::path("..")) == path.end();
}

Json axis_json(const char* name, const std::string& unit) {
  Json axis = {{"name", name}, {"type", "space"}};
  if (!unit.empty()) axis["unit"] = unit;
  return axis;
}

}  // namespace

int64_t chunk_bytes(const ZarrArray& array) {
  return *product(array.chunk, kMostChunkBytes) * static_cast<int64_t>(size_of(array.type));
}

ZarrArray parse_zarr_array(const Json& json, const std::string& file) {
  ZarrArray array;
  try {
    if (entry_of(json, "zarr_format") != 2) {
      throw UserError("'zarr_format' is {}; tacho reads 2", to_text(entry_of(json, "zarr_format")));
    }
    take_type(json, array);
    take_extents(json, array);
    take_layout(json, array);
    take_compressor(json, array);
    take_fill_value(json, array);
  } catch (const UserError& error) {
    throw UserError("{}: {}", file, error.what());
  }
  return array;
}

Json zarr_array_json(const ZarrArray& array) {
  const char order = size_of(array.type) == 1 ? '|' : '<';
  return {{"zarr_format", 2},
          {"shape", array.shape},
          {"chunks", array.chunk},
          {"dtype", fmt::format("{}{}", order, code_of(array.type))},
          {"compressor", compressor_json(array.compression)},
          {"fill_value", 0},
          {"order", "C"},
          {"filters", nullptr},
          {"dimension_separator", std::string(1, array.separator)}};
}

std::vector<OmeDataset> parse_ome_datasets(const Json& attributes, const std::string& file) {
  const Json& images = entry_of(attributes, "multiscales");
  if (!images.is_array() || images.empty() || !images[0].is_object()) return {};
  const Json& datasets = entry_of(images[0], "datasets");
  if (!datasets.is_array()) return {};
  std::vector<OmeDataset> found;
  for (const Json& dataset : datasets) {
    const Json& path = dataset.is_object() ? entry_of(dataset, "path") : dataset;
    if (!path.is_string() || !stays_inside(path.get<std::string>())) {
      throw UserError("{}: 'multiscales' names the dataset {} instead of one inside", file, to_text(path));
    }
    const Json no_transformations = Json::object();
    found.push_back({path.get<std::string>(),
                     voxel_size_of(images[0], dataset.is_object() ? dataset : no_transformations)});
  }
  return found;
}

Json ome_json(const std::string& name, const OmeDataset& dataset) {
  const VoxelSize voxel_size = dataset.voxel_size.value_or(VoxelSize{});
  Json axes = Json::array({{{"name", "c"}, {"type", "channel"}}});
  for (const char* axis : {"z", "y", "x"}) axes.push_back(axis_json(axis, voxel_size.unit));
  const auto& [z, y, x] = voxel_size.size;
  // The standard asks for a scale even where it is not known.
  Json scale = {{"type", "scale"}, {"scale", {1.0, z, y, x}}};
  Json described = {{"path", dataset.path}, {"coordinateTransformations", Json::array({scale})}};
  Json image = {{"version", "0.4"}, {"name", name}, {"axes", axes}, {"datasets", Json::array({described})}};
  return {{"multiscales", Json::array({image})}};
}

std::optional<VoxelSize> parse_resolution(const Json& attributes) {
  std::vector<double> size;
  try {
    read(entry_of(attributes, "resolution"), size);
  } catch (const UserError&) {
    return {};
  }
  return checked_voxel_size(size, "nanometer");
}

std::optional<VoxelSize> checked_voxel_size(const std::vector<double>& size, std::string unit) {
  const bool right =
      size.size() == 3 && std::ranges::all_of(size, [](double s) { return std::isfinite(s) && s > 0; });
  if (!right) return {};
  return VoxelSize{{size[0], size[1], size[2]}, std::move(unit)};
}

Json read_json_file(const fs::path& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  if (!error && size > kMostJsonBytes) throw UserError("{}: is too large for zarr's metadata", path.string());
  Json json = parse_json(read_file(path));
  if (!json.is_object()) throw UserError("{}: is no JSON object", path.string());
  return json;
}

Json read_json_file_if_present(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) ? read_json_file(path) : Json::object();
}

}  // namespace tacho
