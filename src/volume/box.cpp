#include "volume/box.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {

int64_t voxels(const Point& size) { return size[0] * size[1] * size[2]; }

Box intersection(const Box& a, const Box& b) {
  Box both;
  for (size_t axis = 0; axis < both.begin.size(); ++axis) {
    both.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    both.end[axis] = std::max(both.begin[axis], std::min(a.end[axis], b.end[axis]));
  }
  return both;
}

std::string to_string(const Point& size) { return fmt::format("{}x{}x{}", size[0], size[1], size[2]); }

}  // namespace tacho
