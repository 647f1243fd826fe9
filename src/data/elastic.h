#pragma once

#include <vector>

#include "base/random.h"

namespace tacho {

// A smooth random displacement of a plane: uniform random vectors on a coarse grid, joined by cubic
// B-splines. They are so short for the grid that the plane is never folded.
class ElasticField {
 public:
  static constexpr int64_t kSpacing = 32;  // of the grid, in pixels
  static constexpr float kLongest = 8;     // pixels along each axis

  ElasticField(int64_t height, int64_t width, const Random& random);

  // By pixel, row-major.
  const std::vector<float>& along_y() const { return along_y_; }
  const std::vector<float>& along_x() const { return along_x_; }

 private:
  std::vector<float> along_y_, along_x_;
};

}  // namespace tacho
