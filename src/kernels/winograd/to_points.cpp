#include "kernels/winograd/tile_transforms.h"
#include "kernels/winograd/transform.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

// What is transformed, along one axis: the inputs of a tile, or the gradients of its outputs.
struct Inputs {
  static constexpr int extent(const Scheme& scheme, int outputs) { return scheme.points_for(outputs); }
  template<int kernel, int outputs>
  [[gnu::always_inline]] static void transform(const Vector* in, Vector* out) {
    transform_inputs<kernel, outputs>(in, out);
  }
};
struct Gradients {
  static constexpr int extent(const Scheme&, int outputs) { return outputs; }
  template<int kernel, int outputs>
  [[gnu::always_inline]] static void transform(const Vector* in, Vector* out) {
    transform_gradients<kernel, outputs>(in, out);
  }
};

// And what of the activations that takes.
template<typename What, int row_kernel, int rows, int column_kernel, int columns>
struct Shape : TileShape<row_kernel, rows, column_kernel, columns> {
  static constexpr int row_extent = What::extent(kScheme<row_kernel>, rows),
                       column_extent = What::extent(kScheme<column_kernel>, columns);
};

// A tile's part of one plane that lies inside of it.
struct Patch {
  const float* data;
  int64_t row_stride;

  static constexpr bool has(int) { return true; }
  Vector at(int row, int column) const { return load(data + row * row_stride + column * kLanes); }
};

// One that partly lies outside, where there are zeros.
struct CutPatch {
  std::array<const float*, kMaxPoints> rows;
  int64_t first_column, end_column;

  bool has(int column) const { return column >= first_column && column < end_column; }
  Vector at(int row, int column) const { return load(rows[row] + column * kLanes); }
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
  alignas(Vector) static constexpr float kZeros[kMaxPoints * kLanes] = {};
  CutPatch patch = {{}, -column, plane.width - column};
  for (int64_t i = 0; i < rows; ++i) {
    const bool inside = row + i >= 0 && row + i < plane.height;
    patch.rows[i] = inside ? plane.at(row + i, column) : kZeros;
  }
  return patch;
}

// A few rows of points at a time, for which inputs are loaded once more: all rows together would take more
// registers than there are.
template<typename What, typename Of, typename Source>
[[gnu::always_inline]] inline void transform_patch(const Source& patch, Points points) {
  constexpr int kRowsAtATime = 2;
#pragma GCC unroll 4
  for (int first = 0; first < Of::row_points; first += kRowsAtATime) {
    Vector half_way[kRowsAtATime][Of::column_extent];
#pragma GCC unroll 8
    for (int column = 0; column < Of::column_extent; ++column) {
      Vector in[Of::row_extent], out[Of::row_points];
      if (patch.has(column)) {
#pragma GCC unroll 8
        for (int row = 0; row < Of::row_extent; ++row) in[row] = patch.at(row, column);
        What::template transform<Of::row_kernel, Of::rows>(in, out);
      } else {
        std::fill_n(out, Of::row_points, zero());
      }
#pragma GCC unroll 2
      for (int row = 0; row < kRowsAtATime; ++row) {
        if (first + row < Of::row_points) half_way[row][column] = out[first + row];
      }
    }
#pragma GCC unroll 2
    for (int row = 0; row < kRowsAtATime; ++row) {
      if (first + row == Of::row_points) break;
      Vector out[Of::column_points];
      What::template transform<Of::column_kernel, Of::columns>(half_way[row], out);
#pragma GCC unroll 8
      for (int column = 0; column < Of::column_points; ++column) {
        store(points.data + ((first + row) * Of::point_columns + column) * points.stride, out[column]);
      }
    }
  }
}

template<typename What, typename Of>
void transform_plane(const Plane& plane, int64_t row, int64_t column, Points points) {
  constexpr int kRows = Of::row_extent, kColumns = Of::column_extent;
  if (is_inside<kRows, kColumns>(plane, row, column)) {
    transform_patch<What, Of>(Patch{plane.at(row, column), plane.width * kLanes}, points);
  } else {
    transform_patch<What, Of>(cut_patch<kRows, kColumns>(plane, row, column), points);
  }
}

constexpr int kDeepTile = kScheme<3>.tile, kDeepPoints = kScheme<3>.all_points(),
              kDeepPlane = kDeepPoints * kDeepPoints;

// The transform along depth, of planes that are [plane][point][8].
template<typename What, typename Of>
void transform_depth(const float* planes, Points points) {
  constexpr int kPlanes = What::extent(kScheme<3>, kDeepTile);
  for (int row = 0; row < Of::row_points; ++row) {
    for (int column = 0; column < Of::column_points; ++column) {
      const int point = row * Of::point_columns + column;
      Vector in[kPlanes], out[kDeepPoints];
#pragma GCC unroll 6
      for (int plane = 0; plane < kPlanes; ++plane) {
        in[plane] = load(planes + (plane * kDeepPlane + point) * kLanes);
      }
      What::template transform<3, kDeepTile>(in, out);
#pragma GCC unroll 6
      for (int depth = 0; depth < kDeepPoints; ++depth) {
        store(points.data + (depth * kDeepPlane + point) * points.stride, out[depth]);
      }
    }
  }
}

struct Task {
  std::array<int64_t, 3> first;  // where a tile of output 0 begins
  const ActivationLayout& layout;
  const TileBlock& block;
  const float* channels;  // of the first image
  Points points;
};

template<typename What, typename Of>
void transform_flat(const Task& task) {
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    const Plane plane = {task.channels + tile.image * task.layout.batch_stride, task.layout.extents[1],
                         task.layout.extents[2]};
    transform_plane<What, Of>(plane, tile.row + task.first[1], tile.column + task.first[2],
                              {task.points.data + i * kLanes, task.points.stride});
  }
}

template<typename What, typename Of>
void transform_deep(const Task& task) {
  constexpr int64_t kPlaneFloats = kDeepPlane * kLanes, kPlanes = What::extent(kScheme<3>, kDeepTile);
  alignas(Vector) float planes[kPlanes * kPlaneFloats];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    for (int64_t z = 0; z < kPlanes; ++z) {
      const int64_t depth = tile.depth + task.first[0] + z;
      float* target = planes + z * kPlaneFloats;
      if (depth < 0 || depth >= task.layout.extents[0]) {
        std::fill_n(target, kPlaneFloats, 0.0f);
        continue;
      }
      const Plane plane = {
          task.channels + tile.image * task.layout.batch_stride + depth * task.layout.plane_stride,
          task.layout.extents[1], task.layout.extents[2]};
      transform_plane<What, Of>(plane, tile.row + task.first[1], tile.column + task.first[2],
                                {target, kLanes});
    }
    transform_depth<What, Of>(planes, {task.points.data + i * kLanes, task.points.stride});
  }
}

template<typename What>
void transform_block(const Convolution& convolution, const Task& task) {
  with_flat_kernel(convolution, [&]<int row_kernel, int column_kernel>() {
    with_tile_of<row_kernel, column_kernel>(task.block, [&]<int rows, int columns>() {
      using Of = Shape<What, row_kernel, rows, column_kernel, columns>;
      if constexpr (row_kernel == 3 && column_kernel == 3) {
        if (is_deep(convolution)) return transform_deep<What, Of>(task);
      }
      transform_flat<What, Of>(task);
    });
  });
}

}  // namespace

void inputs_to_points(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                      const float* src, int64_t channel_block, Points points) {
  const int64_t segment = channel_block / layout.blocks;
  Task task = {{}, layout, block, src + channel_block % layout.blocks * layout.block_stride, points};
  for (int axis = 0; axis < 3; ++axis) {
    const Scheme& along = scheme(convolution, axis);
    const int64_t before = along.segments() > 1 ? segment * along.taps : 0;
    task.first[axis] = before - convolution.padding[axis];
  }
  transform_block<Inputs>(convolution, task);
}

void gradients_to_points(const Convolution& convolution, const ActivationLayout& layout,
                         const TileBlock& block, const float* diff_dst, int64_t channel_block,
                         Points points) {
  const float* channels = diff_dst + channel_block * layout.block_stride;
  transform_block<Gradients>(convolution, {{}, layout, block, channels, points});
}

}  // namespace tacho::winograd::TACHO_ISA
