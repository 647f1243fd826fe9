#pragma once

#include <string>
#include <string_view>

#include "base/tensor.h"

namespace tacho {

struct NpyHeader {
  DType dtype = DType::f32;
  Shape shape;
};

// Reads the Python dictionary in the head of a NumPy file: {'descr': '<f4', 'fortran_order': False, 'shape':
// (2, 3)}. Throws UserError that names `file` for anything but a C-ordered array of a known type whose size
// can be counted.
NpyHeader parse_npy_header(std::string_view text, const std::string& file);

std::string make_npy_header(const NpyHeader& header);

}  // namespace tacho
