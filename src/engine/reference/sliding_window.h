#pragma once

#include <span>
#include <vector>

#include "base/shape.h"

namespace tacho::reference {

// The index vector of a row-major position.
Extents unravel(int64_t position, const Extents& extents);

// The row-major position of an index vector.
int64_t ravel(const Extents& index, const Extents& extents);

// A kernel that slides over the spatial axes of an image, however many there are.
class SlidingWindow {
 public:
  struct Geometry {
    Extents input, output, kernel, stride, padding, dilation;
  };

  static constexpr int64_t kPadding = -1;        // the tap is on padding
  static constexpr int64_t kBeyondPadding = -2;  // the tap is where only ceil mode reaches

  explicit SlidingWindow(Geometry geometry);

  int64_t taps() const { return static_cast<int64_t>(taps_.size()); }
  int64_t positions() const { return elements(geometry_.output); }

  // The input cell under each tap, in row-major order of the kernel, at one output position; kPadding or
  // kBeyondPadding where there is none. Valid until the next call.
  std::span<const int64_t> cells(int64_t position);

 private:
  int64_t cell(const Extents& origin, const Extents& tap) const;

  Geometry geometry_;
  std::vector<Extents> taps_;  // offset of each tap from the window's origin
  std::vector<int64_t> cells_;
};

}  // namespace tacho::reference
