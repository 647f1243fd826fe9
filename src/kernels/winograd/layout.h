#pragma once

#include "kernels/winograd/tiling.h"

namespace tacho::winograd {

constexpr int64_t taps(const Convolution& convolution) {
  return int64_t{convolution.kernel[0]} * convolution.kernel[1] * convolution.kernel[2];
}

constexpr bool is_deep(const Convolution& convolution) { return convolution.kernel[0] != 1; }

// Where a point lies along each axis, of [depth][row][column].
struct PointGrid {
  explicit constexpr PointGrid(const Convolution& convolution)
      : depths(scheme(convolution, 0).all_points()),
        rows(scheme(convolution, 1).all_points()),
        columns(scheme(convolution, 2).all_points()) {}

  constexpr int plane() const { return rows * columns; }
  constexpr int points() const { return depths * plane(); }
  constexpr int row(int point) const { return point / columns % rows; }
  constexpr int column(int point) const { return point % columns; }

  int depths, rows, columns;
};

constexpr int points(const Convolution& convolution) { return PointGrid(convolution).points(); }

// What transforming a tile takes for each of its points, about, where a product of vectors takes 1.
inline constexpr double kTransformOperations = 6;

inline constexpr int64_t kInputsAtOnce = 16;  // channels of weights that are packed or unpacked by one thread

// Calls visit.operator()<rows, columns>() for each flat kernel that there is.
template<typename Visit>
constexpr void for_each_flat_kernel(const Visit& visit) {
  visit.template operator()<3, 3>();
  visit.template operator()<1, 3>();
  visit.template operator()<3, 1>();
  visit.template operator()<5, 5>();
  visit.template operator()<1, 7>();
  visit.template operator()<7, 1>();
}

// Calls it for the convolution's own.
template<typename Visit>
void with_flat_kernel(const Convolution& convolution, const Visit& visit) {
  for_each_flat_kernel([&]<int rows, int columns>() {
    if (convolution.kernel[1] == rows && convolution.kernel[2] == columns)
      visit.template operator()<rows, columns>();
  });
}

// An odd number of cache lines: strides with large powers of two in them would crowd into few sets of a
// cache.
constexpr int64_t odd_lines(int64_t floats) { return (divide_up(floats, kLineFloats) | 1) * kLineFloats; }

inline ActivationLayout src_layout(const Convolution& convolution) {
  return {convolution.in_channels, convolution.extents, convolution.src_batch_stride, convolution.lanes};
}
inline ActivationLayout dst_layout(const Convolution& convolution) {
  return {convolution.out_channels, dst_extents(convolution), convolution.dst_batch_stride,
          convolution.lanes};
}
inline ActivationLayout pooled_layout(const Convolution& convolution) {
  return {convolution.out_channels, pooled_extents(convolution), convolution.dst_batch_stride,
          convolution.lanes};
}

}  // namespace tacho::winograd
