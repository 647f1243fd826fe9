#pragma once

#include "volume/box.h"

namespace tacho {

// Blocks of one size that cover a volume without overlap, the last along an axis cut off at its end. They are
// numbered row-major.
struct Tiling {
  Point volume = {}, block = {};

  Point counts() const;
  int64_t count() const { return voxels(counts()); }
  Point index(int64_t number) const;
  Box box(int64_t number) const;
};

}  // namespace tacho
