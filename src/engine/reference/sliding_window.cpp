#include "engine/reference/sliding_window.h"

#include <utility>

namespace tacho::reference {

Extents unravel(int64_t position, const Extents& extents) {
  Extents index(extents.size());
  for (size_t axis = extents.size(); axis-- > 0;) {
    index[axis] = position % extents[axis];
    position /= extents[axis];
  }
  return index;
}

int64_t ravel(const Extents& index, const Extents& extents) {
  int64_t position = 0;
  for (size_t axis = 0; axis < extents.size(); ++axis) position = position * extents[axis] + index[axis];
  return position;
}

SlidingWindow::SlidingWindow(Geometry geometry) : geometry_(std::move(geometry)) {
  const int64_t count = elements(geometry_.kernel);
  for (int64_t number = 0; number < count; ++number) {
    Extents tap = unravel(number, geometry_.kernel);
    for (size_t axis = 0; axis < tap.size(); ++axis) tap[axis] *= geometry_.dilation[axis];
    taps_.push_back(std::move(tap));
  }
  cells_.resize(taps_.size());
}

std::span<const int64_t> SlidingWindow::cells(int64_t position) {
  Extents origin = unravel(position, geometry_.output);
  for (size_t axis = 0; axis < origin.size(); ++axis) {
    origin[axis] = origin[axis] * geometry_.stride[axis] - geometry_.padding[axis];
  }
  for (size_t tap = 0; tap < taps_.size(); ++tap) cells_[tap] = cell(origin, taps_[tap]);
  return cells_;
}

int64_t SlidingWindow::cell(const Extents& origin, const Extents& tap) const {
  int64_t position = 0;
  bool padding = false;
  for (size_t axis = 0; axis < tap.size(); ++axis) {
    const int64_t index = origin[axis] + tap[axis];
    const int64_t extent = geometry_.input[axis];
    if (index >= extent + geometry_.padding[axis]) return kBeyondPadding;
    if (index < 0 || index >= extent) padding = true;
    position = position * extent + index;
  }
  return padding ? kPadding : position;
}

}  // namespace tacho::reference
