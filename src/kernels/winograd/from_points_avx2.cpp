#include <cmath>
#include <limits>

#include "kernels/winograd/tile_transforms_avx2.h"
#include "kernels/winograd/transform_avx2.h"

namespace tacho::winograd {
namespace {

// What is done to outputs before they are stored.
struct Finish {
  __m256 bias, floor;
  const float* residual;  // as far from the tensor's first element as `dst`, or null
  float* dst;

  void store(int64_t offset, __m256 value) const {
    value = _mm256_add_ps(value, bias);
    if (residual != nullptr) value = _mm256_add_ps(value, _mm256_load_ps(residual + offset));
    _mm256_store_ps(dst + offset, _mm256_max_ps(floor, value));  // this order of operands keeps NaN
  }
};

__m256 load_bias(const float* bias, int64_t first, int64_t channels) {
  alignas(32) float values[kLanes] = {};
  if (bias != nullptr) std::copy_n(bias + first, std::min(kLanes, channels - first), values);
  return _mm256_load_ps(values);
}

struct Window {
  int64_t offset, row_stride;  // in the destination
  int64_t rows, columns;       // that lie inside
};

template<int rows, int columns>
void points_to_window(const float* points, int64_t point_stride, const Window& window, const Finish& finish) {
  constexpr int kRowPoints = rows + 2, kColumnPoints = columns + 2;
  __m256 half_way[rows][kColumnPoints];
#pragma GCC unroll 6
  for (int column = 0; column < kColumnPoints; ++column) {
    __m256 in[kRowPoints], out[rows];
#pragma GCC unroll 6
    for (int row = 0; row < kRowPoints; ++row) {
      in[row] = _mm256_load_ps(points + (row * kPoints + column) * point_stride);
    }
    transform_products<rows>(in, out);
#pragma GCC unroll 4
    for (int row = 0; row < rows; ++row) half_way[row][column] = out[row];
  }
  for (int row = 0; row < window.rows; ++row) {
    __m256 out[columns];
    transform_products<columns>(half_way[row], out);
    const int64_t offset = window.offset + row * window.row_stride;
    if (window.columns == columns) {
#pragma GCC unroll 4
      for (int column = 0; column < columns; ++column) finish.store(offset + column * kLanes, out[column]);
    } else {
      for (int column = 0; column < window.columns; ++column)
        finish.store(offset + column * kLanes, out[column]);
    }
  }
}

// Undoes the transform along depth: [plane of outputs][point][8].
template<int rows, int columns>
void points_to_planes(const float* points, float* planes) {
  constexpr int64_t kPointStride = kBlockTiles * kLanes;
  for (int row = 0; row < rows + 2; ++row) {
    for (int column = 0; column < columns + 2; ++column) {
      const int point = row * kPoints + column;
      __m256 in[kPoints], out[kTile];
#pragma GCC unroll 6
      for (int depth = 0; depth < kPoints; ++depth) {
        in[depth] = _mm256_load_ps(points + (depth * kPlanePoints + point) * kPointStride);
      }
      transform_products<kTile>(in, out);
#pragma GCC unroll 4
      for (int depth = 0; depth < kTile; ++depth) {
        _mm256_store_ps(planes + (depth * kPlanePoints + point) * kLanes, out[depth]);
      }
    }
  }
}

Window window_of(const Tile& tile, const TileBlock& block, const ActivationLayout& layout) {
  const auto& [depth, height, width] = layout.extents;
  return {tile.image * layout.batch_stride + tile.depth * layout.plane_stride +
              (tile.row * width + tile.column) * kLanes,
          width * kLanes, std::min<int64_t>(block.rows, height - tile.row),
          std::min<int64_t>(block.columns, width - tile.column)};
}

struct Task {
  const ActivationLayout& layout;
  const TileBlock& block;
  const float* products;
  const Finish& finish;
};

template<int rows, int columns>
void transform_flat(const Task& task) {
  for (int i = 0; i < task.block.count; ++i) {
    const Window window = window_of(task.block.tiles[i], task.block, task.layout);
    points_to_window<rows, columns>(task.products + i * kLanes, kBlockTiles * kLanes, window, task.finish);
  }
}

template<int rows, int columns>
void transform_deep(const Task& task) {
  alignas(32) float planes[kTile * kPlanePoints * kLanes];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    points_to_planes<rows, columns>(task.products + i * kLanes, planes);
    Window window = window_of(tile, task.block, task.layout);
    const int64_t depths = std::min<int64_t>(kTile, task.layout.extents[0] - tile.depth);
    for (int64_t depth = 0; depth < depths; ++depth, window.offset += task.layout.plane_stride) {
      points_to_window<rows, columns>(planes + depth * kPlanePoints * kLanes, kLanes, window, task.finish);
    }
  }
}

// By rows, then columns of outputs, from the smallest tile on.
using Table = std::array<std::array<void (*)(const Task&), 3>, 3>;
static_assert(kMinTile == 2 && kTile == 4);

constexpr Table kFlat = {{{transform_flat<2, 2>, transform_flat<2, 3>, transform_flat<2, 4>},
                          {transform_flat<3, 2>, transform_flat<3, 3>, transform_flat<3, 4>},
                          {transform_flat<4, 2>, transform_flat<4, 3>, transform_flat<4, 4>}}};
constexpr Table kDeep = {{{transform_deep<2, 2>, transform_deep<2, 3>, transform_deep<2, 4>},
                          {transform_deep<3, 2>, transform_deep<3, 3>, transform_deep<3, 4>},
                          {transform_deep<4, 2>, transform_deep<4, 3>, transform_deep<4, 4>}}};

}  // namespace

void points_to_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments) {
  const int64_t offset = channel_block * layout.block_stride;
  const float* residual = arguments.residual == nullptr ? nullptr : arguments.residual + offset;
  const float floor = arguments.relu ? 0 : -std::numeric_limits<float>::infinity();
  const Finish finish = {load_bias(arguments.bias, channel_block * kLanes, convolution.out_channels),
                         _mm256_set1_ps(floor), residual, arguments.dst + offset};
  const Table& table = convolution.kernel_depth == 1 ? kFlat : kDeep;
  table[block.rows - kMinTile][block.columns - kMinTile]({layout, block, products, finish});
}

}  // namespace tacho::winograd
