#pragma once

#include <filesystem>

#include "base/tensor.h"

namespace tacho {

// The array of a NumPy file: format 1.0 to 3.0, C order, little-endian f4, f8, i4, i8 or u1. Anything else
// throws UserError with the file and how to save it so that it can be read.
Tensor read_npy(const std::filesystem::path& path);

// Format 1.0. Replaces the file as a whole or not at all.
void write_npy(const std::filesystem::path& path, const Tensor& tensor);

}  // namespace tacho
