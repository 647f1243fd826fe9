#pragma once

#include <utility>

#include "kernels/winograd/layout.h"

// From activations to points and back, for one block of channels of a block of tiles.
namespace tacho::winograd::TACHO_ISA {

// Calls visit.operator()<rows, columns>() for the block's numbers of outputs, of which each has a function of
// its own.
template<int row_kernel, int column_kernel, typename Visit>
void with_tile_of(const TileBlock& block, const Visit& visit) {
  const auto with_outputs = []<int kernel>(std::integral_constant<int, kernel>, int outputs, auto visit_one) {
    constexpr int kLeast = kScheme<kernel>.min_tile;
    [&]<int... more>(std::integer_sequence<int, more...>) {
      ((outputs == kLeast + more ? visit_one.template operator()<kLeast + more>() : void()), ...);
    }
    (std::make_integer_sequence<int, kScheme<kernel>.tile - kLeast + 1>{});
  };
  with_outputs(std::integral_constant<int, row_kernel>{}, block.rows, [&]<int rows>() {
    with_outputs(std::integral_constant<int, column_kernel>{}, block.columns,
                 [&]<int columns>() { visit.template operator()<rows, columns>(); });
  });
}

// A tile of so many outputs of a kernel, along both axes.
template<int row_kernel_, int rows_, int column_kernel_, int columns_>
struct TileShape {
  static constexpr int row_kernel = row_kernel_, rows = rows_, column_kernel = column_kernel_,
                       columns = columns_;
  static constexpr int row_points = kScheme<row_kernel>.points_for(rows),
                       column_points = kScheme<column_kernel>.points_for(columns);
  static constexpr int point_columns = kScheme<column_kernel>.all_points();
};

// Transformed tiles are [point][tile][8], with this much from one point to the next.
struct Points {
  float* data;
  int64_t stride;
};

// `channel_block` is one of the reduction's.
void inputs_to_points(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, Points points);

// The transpose of points_to_outputs(), for gradients of the destination.
void gradients_to_points(const Convolution& convolution, const ActivationLayout& layout,
                         const TileBlock& block, const float* diff_dst, int64_t channel_block, Points points);

// `products` are [point][6 tiles][8], `layout` is that of what is stored: with max_pool, the maxima.
// `streamed` stores past the caches, for flat convolutions; it wants rows of whole cache lines.
void points_to_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments,
                       bool streamed);

}  // namespace tacho::winograd::TACHO_ISA
