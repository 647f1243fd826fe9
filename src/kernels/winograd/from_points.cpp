#include <limits>

#include "kernels/blocked/elu.h"
#include "kernels/winograd/tile_transforms.h"
#include "kernels/winograd/transform.h"

namespace tacho::winograd::TACHO_ISA {
namespace {

// How outputs are stored: as they are, past the caches, or the largest of each 2x2.
enum class Store { plain, streamed, pooled };

// What is done to outputs before they are stored.
struct Finish {
  Vector bias, floor;
  const float *residual, *mask;  // as far from their tensors' first elements as `dst`, or null
  float* dst;
  const float* elu_alpha;  // or null

  template<Store how>
  void write(int64_t offset, Vector value) const {
    value = value + bias;
    if (residual != nullptr) value = value + load(residual + offset);
    value = larger(floor, value);  // this order of operands keeps NaN
    if (mask != nullptr) value = zero_unless_positive(load(mask + offset), value);
    if constexpr (how == Store::streamed) {
      stream(dst + offset, value);
    } else {
      store(dst + offset, value);
    }
  }
};

Vector load_bias(const float* bias, int64_t first, int64_t channels) {
  alignas(Vector) float values[kLanes] = {};
  if (bias != nullptr) std::copy_n(bias + first, std::min(kLanes, channels - first), values);
  return load(values);
}

struct Window {
  int64_t offset, row_stride;  // in the destination
  int64_t rows, columns;       // of the destination that lie inside
};

// Over what was just stored; the channels that fill up the last block are 0, which ELU leaves alone.
__attribute__((noinline)) void apply_elu(const Window& window, const Finish& finish) {
  const Vector alpha = broadcast(*finish.elu_alpha);
  for (int64_t row = 0; row < window.rows; ++row) {
    float* values = finish.dst + window.offset + row * window.row_stride;
    for (int64_t i = 0; i < window.columns * kLanes; i += kLanes)
      store(values + i, elu(load(values + i), alpha));
  }
}

// And what is between its two transforms.
template<int row_kernel, int rows, int column_kernel, int columns>
struct Shape : TileShape<row_kernel, rows, column_kernel, columns> {
  using HalfWay = Vector[rows][kScheme<column_kernel>.points_for(columns)];
};

template<typename Of, Store how>
[[gnu::always_inline]] inline void store_outputs(const typename Of::HalfWay& half_way, const Window& window,
                                                 int64_t stored_rows, int64_t stored_columns,
                                                 const Finish& finish) {
#pragma GCC unroll 5
  for (int row = 0; row < Of::rows; ++row) {
    if (row >= stored_rows) break;
    Vector out[Of::columns];
    transform_products<Of::column_kernel, Of::columns>(half_way[row], out);
    const int64_t offset = window.offset + row * window.row_stride;
#pragma GCC unroll 5
    for (int column = 0; column < Of::columns; ++column) {
      if (column < stored_columns) finish.write<how>(offset + column * kLanes, out[column]);
    }
  }
}

// NaN if any of the four is.
inline Vector largest_of(Vector a, Vector b, Vector c, Vector d) {
  const Vector largest = larger(larger(a, b), larger(c, d));
  return nan_if_either(c, d, nan_if_either(a, b, largest));
}

// Adding the bias and the activations never swap two values' order: they may come after the maximum.
template<typename Of>
inline void store_maxima(const typename Of::HalfWay& half_way, const Window& window, const Finish& finish) {
#pragma GCC unroll 2
  for (int row = 0; row < Of::rows / 2; ++row) {
    if (row >= window.rows) break;
    Vector upper[Of::columns], lower[Of::columns];
    transform_products<Of::column_kernel, Of::columns>(half_way[2 * row], upper);
    transform_products<Of::column_kernel, Of::columns>(half_way[2 * row + 1], lower);
    const int64_t offset = window.offset + row * window.row_stride;
#pragma GCC unroll 2
    for (int column = 0; column < Of::columns / 2; ++column) {
      if (column >= window.columns) break;
      const Vector largest =
          largest_of(upper[2 * column], lower[2 * column], upper[2 * column + 1], lower[2 * column + 1]);
      finish.write<Store::plain>(offset + column * kLanes, largest);
    }
  }
}

template<typename Of, Store how>
[[gnu::always_inline]] inline void points_to_window(const float* points, int64_t point_stride,
                                                    const Window& window, const Finish& finish) {
  typename Of::HalfWay half_way;
#pragma GCC unroll 8
  for (int column = 0; column < Of::column_points; ++column) {
    Vector in[Of::row_points], out[Of::rows];
#pragma GCC unroll 8
    for (int row = 0; row < Of::row_points; ++row) {
      in[row] = load(points + (row * Of::point_columns + column) * point_stride);
    }
    transform_products<Of::row_kernel, Of::rows>(in, out);
#pragma GCC unroll 5
    for (int row = 0; row < Of::rows; ++row) half_way[row][column] = out[row];
  }
  if constexpr (how == Store::pooled) {
    store_maxima<Of>(half_way, window, finish);
  } else if (window.rows == Of::rows && window.columns == Of::columns) {
    store_outputs<Of, how>(half_way, window, Of::rows, Of::columns, finish);
  } else {
    store_outputs<Of, Store::plain>(half_way, window, window.rows, window.columns, finish);
  }
  if (finish.elu_alpha != nullptr) apply_elu(window, finish);
}

constexpr int kDeepTile = kScheme<3>.tile, kDeepPoints = kScheme<3>.all_points(),
              kDeepPlane = kDeepPoints * kDeepPoints;

// Undoes the transform along depth: [plane of outputs][point][8].
template<typename Of>
void points_to_planes(const float* points, float* planes) {
  constexpr int64_t kPointStride = kBlockTiles * kLanes;
  for (int row = 0; row < Of::row_points; ++row) {
    for (int column = 0; column < Of::column_points; ++column) {
      const int point = row * Of::point_columns + column;
      Vector in[kDeepPoints], out[kDeepTile];
#pragma GCC unroll 6
      for (int depth = 0; depth < kDeepPoints; ++depth) {
        in[depth] = load(points + (depth * kDeepPlane + point) * kPointStride);
      }
      transform_products<3, kDeepTile>(in, out);
#pragma GCC unroll 4
      for (int depth = 0; depth < kDeepTile; ++depth) {
        store(planes + (depth * kDeepPlane + point) * kLanes, out[depth]);
      }
    }
  }
}

// `layout` is the destination's: that of the maxima when they are stored.
template<Store how>
inline Window window_of(const Tile& tile, const TileBlock& block, const ActivationLayout& layout) {
  constexpr int64_t kOutputs = how == Store::pooled ? 2 : 1;  // along each axis, for one value that is stored
  const auto& [depth, height, width] = layout.extents;
  const int64_t row = tile.row / kOutputs, column = tile.column / kOutputs;
  return {
      tile.image * layout.batch_stride + tile.depth * layout.plane_stride + (row * width + column) * kLanes,
      width * kLanes, std::min<int64_t>(block.rows / kOutputs, height - row),
      std::min<int64_t>(block.columns / kOutputs, width - column)};
}

struct Task {
  const ActivationLayout& layout;
  const TileBlock& block;
  const float* products;
  const Finish& finish;
};

template<typename Of, Store how>
void transform_flat(const Task& task) {
  for (int i = 0; i < task.block.count; ++i) {
    const Window window = window_of<how>(task.block.tiles[i], task.block, task.layout);
    points_to_window<Of, how>(task.products + i * kLanes, kBlockTiles * kLanes, window, task.finish);
  }
}

template<typename Of>
void transform_deep(const Task& task) {
  alignas(Vector) float planes[kDeepTile * kDeepPlane * kLanes];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    points_to_planes<Of>(task.products + i * kLanes, planes);
    Window window = window_of<Store::plain>(tile, task.block, task.layout);
    const int64_t depths = std::min<int64_t>(kDeepTile, task.layout.extents[0] - tile.depth);
    for (int64_t depth = 0; depth < depths; ++depth, window.offset += task.layout.plane_stride) {
      points_to_window<Of, Store::plain>(planes + depth * kDeepPlane * kLanes, kLanes, window, task.finish);
    }
  }
}

template<typename Of>
void transform(const Convolution& convolution, bool max_pool, bool streamed, const Task& task) {
  if constexpr (Of::row_kernel == 3 && Of::column_kernel == 3) {
    if (is_deep(convolution)) return transform_deep<Of>(task);
    if (max_pool) return transform_flat<Of, Store::pooled>(task);
    if (streamed) return transform_flat<Of, Store::streamed>(task);
  }
  transform_flat<Of, Store::plain>(task);
}

}  // namespace

void points_to_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments,
                       bool streamed) {
  const int64_t offset = channel_block * layout.block_stride;
  const auto of_block = [&](const float* whole) { return whole == nullptr ? nullptr : whole + offset; };
  const float floor = arguments.activation == Activation::relu ? 0 : -std::numeric_limits<float>::infinity();
  const Finish finish = {load_bias(arguments.bias, channel_block * kLanes, convolution.out_channels),
                         broadcast(floor),
                         of_block(arguments.residual),
                         of_block(arguments.mask),
                         arguments.dst + offset,
                         arguments.activation == Activation::elu ? &arguments.alpha : nullptr};
  with_flat_kernel(convolution, [&]<int row_kernel, int column_kernel>() {
    with_tile_of<row_kernel, column_kernel>(block, [&]<int rows, int columns>() {
      transform<Shape<row_kernel, rows, column_kernel, columns>>(convolution, arguments.max_pool, streamed,
                                                                 {layout, block, products, finish});
    });
  });
}

}  // namespace tacho::winograd::TACHO_ISA
