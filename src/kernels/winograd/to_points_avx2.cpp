#include "kernels/winograd/tile_transforms_avx2.h"
#include "kernels/winograd/transform_avx2.h"

namespace tacho::winograd {
namespace {

// What is transformed, along one axis: the r + 2 inputs of a tile, or the gradients of its r outputs.
struct Inputs {
  static constexpr int extent(int outputs) { return outputs + 2; }
  template<int outputs>
  static void transform(const __m256* in, __m256* out) {
    transform_inputs<outputs>(in, out);
  }
};
struct Gradients {
  static constexpr int extent(int outputs) { return outputs; }
  template<int outputs>
  static void transform(const __m256* in, __m256* out) {
    transform_gradients<outputs>(in, out);
  }
};

// A tile's part of one plane that lies inside of it.
struct Patch {
  const float* data;
  int64_t row_stride;

  static constexpr bool has(int) { return true; }
  __m256 load(int row, int column) const { return _mm256_load_ps(data + row * row_stride + column * kLanes); }
};

// One that partly lies outside, where there are zeros.
struct CutPatch {
  std::array<const float*, kPoints> rows;
  int64_t first_column, end_column;

  bool has(int column) const { return column >= first_column && column < end_column; }
  __m256 load(int row, int column) const { return _mm256_load_ps(rows[row] + column * kLanes); }
};

struct Plane {
  const float* data;
  int64_t height, width;

  const float* at(int64_t row, int64_t column) const { return data + (row * width + column) * kLanes; }
};

template<int rows, int columns>
bool is_inside(const Plane& plane, int64_t row, int64_t column) {
  return row >= 0 && column >= 0 && row + rows <= plane.height && column + columns <= plane.width;
}

template<int rows, int columns>
CutPatch cut_patch(const Plane& plane, int64_t row, int64_t column) {
  alignas(32) static constexpr float kZeros[kPoints * kLanes] = {};
  CutPatch patch = {{}, -column, plane.width - column};
  for (int64_t i = 0; i < rows; ++i) {
    const bool inside = row + i >= 0 && row + i < plane.height;
    patch.rows[i] = inside ? plane.at(row + i, column) : kZeros;
  }
  return patch;
}

template<typename What, int rows, int columns, typename Source>
void transform_patch(const Source& patch, Points points) {
  constexpr int kRows = What::extent(rows), kColumns = What::extent(columns);
  __m256 half_way[rows + 2][kColumns];
#pragma GCC unroll 6
  for (int column = 0; column < kColumns; ++column) {
    __m256 in[kRows], out[rows + 2];
    if (patch.has(column)) {
#pragma GCC unroll 6
      for (int row = 0; row < kRows; ++row) in[row] = patch.load(row, column);
      What::template transform<rows>(in, out);
    } else {
      std::fill_n(out, rows + 2, _mm256_setzero_ps());
    }
#pragma GCC unroll 6
    for (int row = 0; row < rows + 2; ++row) half_way[row][column] = out[row];
  }
#pragma GCC unroll 6
  for (int row = 0; row < rows + 2; ++row) {
    __m256 out[columns + 2];
    What::template transform<columns>(half_way[row], out);
#pragma GCC unroll 6
    for (int column = 0; column < columns + 2; ++column) {
      _mm256_store_ps(points.data + (row * kPoints + column) * points.stride, out[column]);
    }
  }
}

template<typename What, int rows, int columns>
void transform_plane(const Plane& plane, int64_t row, int64_t column, Points points) {
  constexpr int kRows = What::extent(rows), kColumns = What::extent(columns);
  if (is_inside<kRows, kColumns>(plane, row, column)) {
    transform_patch<What, rows, columns>(Patch{plane.at(row, column), plane.width * kLanes}, points);
  } else {
    transform_patch<What, rows, columns>(cut_patch<kRows, kColumns>(plane, row, column), points);
  }
}

// The transform along depth, of planes that are [plane][point][8].
template<typename What, int rows, int columns>
void transform_depth(const float* planes, Points points) {
  constexpr int kPlanes = What::extent(kTile);
  for (int row = 0; row < rows + 2; ++row) {
    for (int column = 0; column < columns + 2; ++column) {
      const int point = row * kPoints + column;
      __m256 in[kPlanes], out[kPoints];
#pragma GCC unroll 6
      for (int plane = 0; plane < kPlanes; ++plane) {
        in[plane] = _mm256_load_ps(planes + (plane * kPlanePoints + point) * kLanes);
      }
      What::template transform<kTile>(in, out);
#pragma GCC unroll 6
      for (int depth = 0; depth < kPoints; ++depth) {
        _mm256_store_ps(points.data + (depth * kPlanePoints + point) * points.stride, out[depth]);
      }
    }
  }
}

struct Task {
  const std::array<int64_t, 3>& padding;
  const ActivationLayout& layout;
  const TileBlock& block;
  const float* channels;  // of the first image
  Points points;
};

template<typename What, int rows, int columns>
void transform_flat(const Task& task) {
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    const Plane plane = {task.channels + tile.image * task.layout.batch_stride, task.layout.extents[1],
                         task.layout.extents[2]};
    transform_plane<What, rows, columns>(plane, tile.row - task.padding[1], tile.column - task.padding[2],
                                         {task.points.data + i * kLanes, task.points.stride});
  }
}

template<typename What, int rows, int columns>
void transform_deep(const Task& task) {
  constexpr int64_t kPlaneFloats = kPlanePoints * kLanes;
  alignas(32) float planes[What::extent(kTile) * kPlaneFloats];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    for (int64_t z = 0; z < What::extent(kTile); ++z) {
      const int64_t depth = tile.depth - task.padding[0] + z;
      float* target = planes + z * kPlaneFloats;
      if (depth < 0 || depth >= task.layout.extents[0]) {
        std::fill_n(target, kPlaneFloats, 0.0f);
        continue;
      }
      const Plane plane = {
          task.channels + tile.image * task.layout.batch_stride + depth * task.layout.plane_stride,
          task.layout.extents[1], task.layout.extents[2]};
      transform_plane<What, rows, columns>(plane, tile.row - task.padding[1], tile.column - task.padding[2],
                                           {target, kLanes});
    }
    transform_depth<What, rows, columns>(planes, {task.points.data + i * kLanes, task.points.stride});
  }
}

// By rows, then columns of outputs, from the smallest tile on.
using Table = std::array<std::array<void (*)(const Task&), 3>, 3>;
static_assert(kMinTile == 2 && kTile == 4);

template<typename What>
constexpr Table kFlat = {
    {{transform_flat<What, 2, 2>, transform_flat<What, 2, 3>, transform_flat<What, 2, 4>},
     {transform_flat<What, 3, 2>, transform_flat<What, 3, 3>, transform_flat<What, 3, 4>},
     {transform_flat<What, 4, 2>, transform_flat<What, 4, 3>, transform_flat<What, 4, 4>}}};
template<typename What>
constexpr Table kDeep = {
    {{transform_deep<What, 2, 2>, transform_deep<What, 2, 3>, transform_deep<What, 2, 4>},
     {transform_deep<What, 3, 2>, transform_deep<What, 3, 3>, transform_deep<What, 3, 4>},
     {transform_deep<What, 4, 2>, transform_deep<What, 4, 3>, transform_deep<What, 4, 4>}}};

template<typename What>
void transform_block(bool is_deep, const Task& task) {
  const Table& table = is_deep ? kDeep<What> : kFlat<What>;
  table[task.block.rows - kMinTile][task.block.columns - kMinTile](task);
}

}  // namespace

void inputs_to_points(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, Points points) {
  const float* channels = src + channel_block * layout.block_stride;
  transform_block<Inputs>(convolution.kernel_depth == 3,
                          {convolution.padding, layout, block, channels, points});
}

void gradients_to_points(const Convolution& convolution, const ActivationLayout& layout,
                         const TileBlock& block, const float* diff_dst, int64_t channel_block,
                         Points points) {
  constexpr std::array<int64_t, 3> kNoPadding = {0, 0, 0};
  const float* channels = diff_dst + channel_block * layout.block_stride;
  transform_block<Gradients>(convolution.kernel_depth == 3, {kNoPadding, layout, block, channels, points});
}

}  // namespace tacho::winograd
