#pragma once

#include <cstdint>
#include <string>

#include "base/carried.h"

namespace tacho {

// A small gray picture of a part of a volume.
struct VolumeSlice {
  static constexpr int64_t kMostPixels = 1 << 20;

  std::string name = {};
  int64_t width = 0, height = 0;
  std::string pixels = {};  // a byte each, row by row, in base64
  Carried carried = {};
};

}  // namespace tacho
