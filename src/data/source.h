#pragma once

#include <cstdint>
#include <string_view>

#include "data/data_set.h"

namespace tacho {

// What a synthetic set is made for.
struct SyntheticShape {
  int64_t images = 1024, classes = 10;
  Extents image = {32, 32};
  uint64_t seed = 0;
};

// What the user names: `cifar10:DIR`, `npy:x.npy,y.npy` (and `,x.npy,y.npy` of a test set), `synthetic`.
// Throws UserError that says what would be right, also where it does not fit into memory.
DataSet open_data(std::string_view specification, const SyntheticShape& synthetic);

}  // namespace tacho
