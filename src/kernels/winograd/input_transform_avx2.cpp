#include "kernels/winograd/tile_transforms_avx2.h"
#include "kernels/winograd/transform_avx2.h"

namespace tacho::winograd {
namespace {

struct Patch {
  const float* data;
  int64_t row_stride;
};

// The inputs of one tile in one plane. Where some lie in the padding, a copy in `buffer` with zeros for them.
template<int rows, int columns>
Patch find_patch(const float* plane, int64_t height, int64_t width, int64_t row, int64_t column,
                 float* buffer) {
  if (row >= 0 && column >= 0 && row + rows <= height && column + columns <= width) {
    return {plane + (row * width + column) * kLanes, width * kLanes};
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t y = row + r, x = column + c;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      const __m256 value = inside ? _mm256_load_ps(plane + (y * width + x) * kLanes) : _mm256_setzero_ps();
      _mm256_store_ps(buffer + (r * columns + c) * kLanes, value);
    }
  }
  return {buffer, columns * kLanes};
}

template<int rows, int columns>
void patch_to_points(Patch patch, float* points, int64_t point_stride) {
  constexpr int kRowPoints = rows + 2, kColumnPoints = columns + 2;
  __m256 half_way[kRowPoints][kColumnPoints];
#pragma GCC unroll 6
  for (int column = 0; column < kColumnPoints; ++column) {
    __m256 in[kRowPoints], out[kRowPoints];
#pragma GCC unroll 6
    for (int row = 0; row < kRowPoints; ++row) {
      in[row] = _mm256_load_ps(patch.data + row * patch.row_stride + column * kLanes);
    }
    inputs_to_points<rows>(in, out);
#pragma GCC unroll 6
    for (int row = 0; row < kRowPoints; ++row) half_way[row][column] = out[row];
  }
#pragma GCC unroll 6
  for (int row = 0; row < kRowPoints; ++row) {
    __m256 out[kColumnPoints];
    inputs_to_points<columns>(half_way[row], out);
#pragma GCC unroll 6
    for (int column = 0; column < kColumnPoints; ++column) {
      _mm256_store_ps(points + (row * kPoints + column) * point_stride, out[column]);
    }
  }
}

template<int rows, int columns>
void volume_to_points(const float* planes, float* points, int64_t point_stride) {
  for (int row = 0; row < rows + 2; ++row) {
    for (int column = 0; column < columns + 2; ++column) {
      const int point = row * kPoints + column;
      __m256 in[kPoints], out[kPoints];
#pragma GCC unroll 6
      for (int depth = 0; depth < kPoints; ++depth) {
        in[depth] = _mm256_load_ps(planes + (depth * kPlanePoints + point) * kLanes);
      }
      inputs_to_points<kTile>(in, out);
#pragma GCC unroll 6
      for (int depth = 0; depth < kPoints; ++depth) {
        _mm256_store_ps(points + (depth * kPlanePoints + point) * point_stride, out[depth]);
      }
    }
  }
}

struct Task {
  const Convolution& convolution;
  const ActivationLayout& layout;
  const TileBlock& block;
  const float* channels;  // of the first image
  float* points;
  int64_t point_stride;
};

template<int rows, int columns>
void transform_flat(const Task& task) {
  const auto& [depth_padding, row_padding, column_padding] = task.convolution.padding;
  alignas(32) float buffer[kPlanePoints * kLanes];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    const float* plane = task.channels + tile.image * task.layout.batch_stride;
    const auto patch =
        find_patch<rows + 2, columns + 2>(plane, task.layout.extents[1], task.layout.extents[2],
                                          tile.row - row_padding, tile.column - column_padding, buffer);
    patch_to_points<rows, columns>(patch, task.points + i * kLanes, task.point_stride);
  }
}

template<int rows, int columns>
void transform_deep(const Task& task) {
  const auto& [depth_padding, row_padding, column_padding] = task.convolution.padding;
  alignas(32) float buffer[kPlanePoints * kLanes];
  alignas(32) float planes[kPoints * kPlanePoints * kLanes];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    for (int64_t z = 0; z < kPoints; ++z) {
      const int64_t depth = tile.depth - depth_padding + z;
      float* target = planes + z * kPlanePoints * kLanes;
      if (depth < 0 || depth >= task.layout.extents[0]) {
        std::fill_n(target, kPlanePoints * kLanes, 0.0f);
        continue;
      }
      const float* plane =
          task.channels + tile.image * task.layout.batch_stride + depth * task.layout.plane_stride;
      const auto patch =
          find_patch<rows + 2, columns + 2>(plane, task.layout.extents[1], task.layout.extents[2],
                                            tile.row - row_padding, tile.column - column_padding, buffer);
      patch_to_points<rows, columns>(patch, target, kLanes);
    }
    volume_to_points<rows, columns>(planes, task.points + i * kLanes, task.point_stride);
  }
}

using Transform = void (*)(const Task&);

// By rows, then columns of outputs, from the smallest tile on.
using Table = std::array<std::array<Transform, 3>, 3>;
static_assert(kMinTile == 2 && kTile == 4);

constexpr Table kFlat = {{{transform_flat<2, 2>, transform_flat<2, 3>, transform_flat<2, 4>},
                          {transform_flat<3, 2>, transform_flat<3, 3>, transform_flat<3, 4>},
                          {transform_flat<4, 2>, transform_flat<4, 3>, transform_flat<4, 4>}}};
constexpr Table kDeep = {{{transform_deep<2, 2>, transform_deep<2, 3>, transform_deep<2, 4>},
                          {transform_deep<3, 2>, transform_deep<3, 3>, transform_deep<3, 4>},
                          {transform_deep<4, 2>, transform_deep<4, 3>, transform_deep<4, 4>}}};

}  // namespace

void transform_inputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, PointsOut points) {
  const Task task = {convolution,
                     layout,
                     block,
                     src + channel_block * layout.block_stride,
                     points.data + channel_block * kBlockTiles * kLanes,
                     points.point_stride};
  const Table& table = convolution.kernel_depth == 1 ? kFlat : kDeep;
  table[block.rows - kMinTile][block.columns - kMinTile](task);
}

}  // namespace tacho::winograd
