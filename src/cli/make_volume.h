#pragma once

#include <cstdint>
#include <filesystem>

#include "volume/box.h"

namespace tacho {

// make_cremi() with its progress shown; false where it was interrupted.
bool make_volume(const std::filesystem::path& file, const Point& shape, uint64_t seed);

}  // namespace tacho
