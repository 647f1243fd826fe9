#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace tacho {

// How the bytes of a zarr chunk are compressed.
enum class Compression { none, zlib, gzip, zstd, blosc };

// Throws UserError that names what there is.
Compression parse_compression(std::string_view name);
std::string_view name_of(Compression compression);
// "none, zlib, gzip, zstd or blosc".
std::string list_of_compressions();

// What `compressor` of a .zarray says about bytes that encode() made.
Json compressor_json(Compression compression);

// What no chunk may exceed; blosc can hold no more.
inline constexpr int64_t kMostChunkBytes = (int64_t{1} << 31) - (1 << 16);

// The same bytes give the same result on every machine. `element_bytes` is the size of one value. At most
// kMostChunkBytes.
std::vector<std::byte> encode(Compression compression, std::span<const std::byte> bytes,
                              size_t element_bytes);

// Throws UserError, which says what is wrong but not where, unless `stored` holds exactly as many bytes as
// `decoded` has room for. Blosc's inner codec is what the bytes themselves say.
void decode(Compression compression, std::span<const std::byte> stored, std::span<std::byte> decoded);

uint32_t crc32_of(std::span<const std::byte> bytes);

}  // namespace tacho
