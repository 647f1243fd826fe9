#pragma once

#include <filesystem>

#include "base/tensor.h"

namespace tacho {

// All tensors of a safetensors file; its metadata is ignored. A file that is not exactly what its header says
// throws UserError with the file, the tensor and what is wrong.
Weights read_safetensors(const std::filesystem::path& path);

// Replaces the file as a whole or not at all.
void write_safetensors(const std::filesystem::path& path, const Weights& weights);

}  // namespace tacho
