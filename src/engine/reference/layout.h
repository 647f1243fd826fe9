#pragma once

#include "base/tensor.h"

namespace tacho::reference {

// A tensor as N images of C channels of `cells` spatial positions each; (N, F) has one cell per channel.
struct Layout {
  int64_t images = 1, channels = 1, cells = 1;

  size_t offset(int64_t image, int64_t channel) const {
    return static_cast<size_t>((image * channels + channel) * cells);
  }
};

inline Layout layout_of(const Tensor& tensor) {
  const Shape& shape = tensor.shape();
  Layout layout{shape[0], shape[1], 1};
  for (size_t axis = 2; axis < shape.size(); ++axis) layout.cells *= shape[axis];
  return layout;
}

// The cells of one channel of one image.
inline std::span<const float> plane(const Tensor& tensor, int64_t image, int64_t channel) {
  const Layout layout = layout_of(tensor);
  return tensor.values<float>().subspan(layout.offset(image, channel), static_cast<size_t>(layout.cells));
}

inline std::span<float> plane(Tensor& tensor, int64_t image, int64_t channel) {
  const Layout layout = layout_of(tensor);
  return tensor.values<float>().subspan(layout.offset(image, channel), static_cast<size_t>(layout.cells));
}

// Of a tensor with two axes.
template<typename T>
auto row(T& matrix, int64_t index) {
  const auto length = static_cast<size_t>(matrix.shape()[1]);
  return matrix.template values<float>().subspan(static_cast<size_t>(index) * length, length);
}

}  // namespace tacho::reference
