#include "base/shape.h"

#include <fmt/format.h>

#include <functional>
#include <numeric>

namespace tacho {

int64_t elements(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Extents spatial(const Shape& shape) { return {shape.begin() + 2, shape.end()}; }

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  return fmt::format("{}", fmt::join(shape, "x"));
}

}  // namespace tacho
