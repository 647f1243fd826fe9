#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include "volume/volume.h"

namespace tacho {

inline constexpr size_t kChunkCacheBytes = size_t{256} << 20;

// The array at `path` in a folder of zarr v2, or the first of an OME-NGFF group there; an empty path is the
// folder itself. Of more than three axes those in front must have extent 1. Keeps up to `cache_bytes` of
// decoded chunks.
std::unique_ptr<Volume> open_zarr(const std::filesystem::path& folder, std::string_view path,
                                  size_t cache_bytes = kChunkCacheBytes);

}  // namespace tacho
