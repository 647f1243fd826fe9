#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// Extents of a tensor, outermost first. Activations are N, C, then one extent per spatial axis.
using Shape = std::vector<int64_t>;

// One number per spatial axis: kernel, stride, padding, image size.
using Extents = std::vector<int64_t>;

int64_t elements(const Shape& shape);

// The spatial axes of an activation's or a weight's shape: everything behind the first two.
Extents spatial(const Shape& shape);

// "16x3x224x224"; a scalar is "scalar".
std::string to_string(const Shape& shape);

}  // namespace tacho
