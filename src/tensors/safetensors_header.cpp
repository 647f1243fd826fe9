#include "tensors/safetensors_header.h"

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "base/error.h"

namespace tacho {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMetadata = "__metadata__";
constexpr uint64_t kLargestExtent = std::numeric_limits<int64_t>::max();

struct TypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array kTypeNames = {TypeName{"F32", DType::f32}, TypeName{"F64", DType::f64},
                                   TypeName{"I32", DType::i32}, TypeName{"I64", DType::i64},
                                   TypeName{"U8", DType::u8}};

// JSON text that stays on one line of printable ASCII, whatever it holds.
std::string quote(const Json& value) {
  return value.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

// Where an error is: "weights.safetensors: tensor "fc.bias"".
struct Place {
  const std::string& file;
  const std::string& tensor;

  [[noreturn]] void fail(const std::string& problem) const {
    throw UserError("{}: tensor {}: {}", file, quote(tensor), problem);
  }
};

Json parse_object(std::string_view header, const std::string& file) {
  std::set<std::string> names, fields;
  std::string name;
  auto refuse_duplicates = [&](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key) return true;
    if (depth == 1) {
      name = parsed.get<std::string>();
      fields.clear();
      if (!names.insert(name).second) Place{file, name}.fail("named twice in the header");
    }
    if (depth == 2 && name != kMetadata && !fields.insert(parsed.get<std::string>()).second) {
      Place{file, name}.fail(fmt::format("{} stands there twice", quote(parsed)));
    }
    return true;
  };
  Json object;
  try {
    object = Json::parse(header.begin(), header.end(), refuse_duplicates);
  } catch (const Json::exception&) {
    throw UserError("{}: the header is not JSON: not a safetensors file, or a damaged one", file);
  }
  if (!object.is_object()) throw UserError("{}: the header is not a JSON object of tensors", file);
  return object;
}

const Json& field(const Json& entry, const char* name, const Place& place) {
  const auto found = entry.find(name);
  if (found == entry.end()) place.fail(fmt::format("{} is missing", name));
  return *found;
}

DType read_dtype(const Json& entry, const Place& place) {
  const Json& dtype = field(entry, "dtype", place);
  for (const TypeName& known : kTypeNames) {
    if (dtype == known.name) return known.dtype;
  }
  place.fail(fmt::format("dtype {} is not supported: F32, F64, I32, I64 or U8 is", quote(dtype)));
}

Shape read_shape(const Json& entry, const Place& place) {
  const Json& shape = field(entry, "shape", place);
  if (!shape.is_array()) place.fail(fmt::format("shape {} is not a list of extents", quote(shape)));
  Shape extents;
  for (const Json& extent : shape) {
    if (!extent.is_number_unsigned() || extent.get<uint64_t>() > kLargestExtent) {
      place.fail(fmt::format("shape {} has an extent that is not a whole number from 0 on", quote(shape)));
    }
    extents.push_back(extent.get<int64_t>());
  }
  return extents;
}

void read_offsets(const Json& entry, TensorEntry& tensor, const Place& place) {
  const Json& offsets = field(entry, "data_offsets", place);
  const bool well_formed = offsets.is_array() && offsets.size() == 2 && offsets[0].is_number_unsigned() &&
                           offsets[1].is_number_unsigned();
  if (!well_formed) {
    place.fail(fmt::format("data_offsets {} is not [begin, end] in bytes", quote(offsets)));
  }
  tensor.begin = offsets[0].get<uint64_t>();
  tensor.end = offsets[1].get<uint64_t>();
}

void check_extent(const TensorEntry& tensor, uint64_t data_bytes, const Place& place) {
  if (tensor.begin > tensor.end) {
    place.fail(fmt::format("data_offsets end at {} before they begin at {}", tensor.end, tensor.begin));
  }
  if (tensor.end > data_bytes) {
    place.fail(fmt::format("data_offsets end at {}, beyond the {} bytes of data in the file", tensor.end,
                           data_bytes));
  }
  int64_t needed = static_cast<int64_t>(size_of(tensor.dtype));
  for (const int64_t extent : tensor.shape) {
    if (__builtin_mul_overflow(needed, extent, &needed)) {
      place.fail(fmt::format("shape {} has more elements than can be counted", to_string(tensor.shape)));
    }
  }
  if (tensor.end - tensor.begin != static_cast<uint64_t>(needed)) {
    place.fail(fmt::format("data_offsets span {} bytes, but shape {} of {} needs {}",
                           tensor.end - tensor.begin, to_string(tensor.shape), name_of(tensor.dtype),
                           needed));
  }
}

void check_layout(const std::vector<TensorEntry>& entries, uint64_t data_bytes, const std::string& file) {
  uint64_t position = 0;
  for (const TensorEntry& tensor : entries) {
    const Place place{file, tensor.name};
    if (tensor.begin < position) {
      place.fail(fmt::format("its data begins at {}, inside another tensor's that ends at {}", tensor.begin,
                             position));
    }
    if (tensor.begin > position) {
      place.fail(
          fmt::format("its data begins at {}, but the data before it ends at {}", tensor.begin, position));
    }
    position = tensor.end;
  }
  if (position != data_bytes) {
    throw UserError("{}: {} bytes behind the last tensor belong to none", file, data_bytes - position);
  }
}

}  // namespace

std::vector<TensorEntry> parse_safetensors_header(std::string_view header, uint64_t data_bytes,
                                                  const std::string& file) {
  const Json object = parse_object(header, file);
  std::vector<TensorEntry> entries;
  for (const auto& [name, entry] : object.items()) {
    if (name == kMetadata) continue;
    const Place place{file, name};
    if (!entry.is_object()) place.fail("its entry is not an object with dtype, shape and data_offsets");
    TensorEntry tensor{name, read_dtype(entry, place), read_shape(entry, place)};
    read_offsets(entry, tensor, place);
    check_extent(tensor, data_bytes, place);
    entries.push_back(std::move(tensor));
  }
  std::ranges::stable_sort(entries, {}, [](const TensorEntry& e) { return std::tuple(e.begin, e.end); });
  check_layout(entries, data_bytes, file);
  return entries;
}

std::string make_safetensors_header(const std::vector<TensorEntry>& entries) {
  Json object = Json::object();
  for (const TensorEntry& tensor : entries) {
    const auto type = std::ranges::find(kTypeNames, tensor.dtype, &TypeName::dtype);
    object[tensor.name] = {
        {"dtype", type->name}, {"shape", tensor.shape}, {"data_offsets", {tensor.begin, tensor.end}}};
  }
  std::string header = object.dump();
  header.resize((header.size() + 7) / 8 * 8, ' ');
  return header;
}

}  // namespace tacho
