#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"

namespace tacho {

// One tensor of a safetensors file: its bytes are [begin, end) of the data behind the header.
struct TensorEntry {
  std::string name;
  DType dtype = DType::f32;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

// The entries of a JSON header, in the order of their data. They fill the `data_bytes` behind the header
// exactly, each of them as its shape and type demand; anything else throws UserError that names `file` and
// the tensor.
std::vector<TensorEntry> parse_safetensors_header(std::string_view header, uint64_t data_bytes,
                                                  const std::string& file);

// Lays the tensors out one behind the other and describes them, padded so that the data starts aligned to 8
// bytes.
std::string make_safetensors_header(const std::vector<TensorEntry>& entries);

}  // namespace tacho
