#include "predict/tiling.h"

#include <algorithm>

namespace tacho {

Point Tiling::counts() const {
  Point counts;
  for (size_t axis = 0; axis < counts.size(); ++axis)
    counts[axis] = (volume[axis] + block[axis] - 1) / block[axis];
  return counts;
}

Point Tiling::index(int64_t number) const {
  const Point along = counts();
  return {number / (along[1] * along[2]), number / along[2] % along[1], number % along[2]};
}

Box Tiling::box(int64_t number) const {
  const Point position = index(number);
  Box box;
  for (size_t axis = 0; axis < position.size(); ++axis) {
    box.begin[axis] = position[axis] * block[axis];
    box.end[axis] = std::min(box.begin[axis] + block[axis], volume[axis]);
  }
  return box;
}

}  // namespace tacho
