#include <limits>

#include "kernels/winograd/elu_avx2.h"
#include "kernels/winograd/tile_transforms_avx2.h"
#include "kernels/winograd/transform_avx2.h"

namespace tacho::winograd {
namespace {

// How outputs are stored: as they are, past the caches, or the largest of each 2x2.
enum class Store { plain, streamed, pooled };

// What is done to outputs before they are stored.
struct Finish {
  __m256 bias, floor;
  const float* beside;  // a residual or a mask, as far from its tensor's first element as `dst`, or null
  bool masks;
  float* dst;
  const float* elu_alpha;  // or null

  template<Store how>
  void store(int64_t offset, __m256 value) const {
    value = _mm256_add_ps(value, bias);
    if (beside != nullptr) value = combined(value, _mm256_load_ps(beside + offset));
    value = _mm256_max_ps(floor, value);  // this order of operands keeps NaN
    if constexpr (how == Store::streamed) {
      _mm256_stream_ps(dst + offset, value);
    } else {
      _mm256_store_ps(dst + offset, value);
    }
  }

  __m256 combined(__m256 value, __m256 other) const {
    if (!masks) return _mm256_add_ps(value, other);
    return _mm256_and_ps(value, _mm256_cmp_ps(other, _mm256_setzero_ps(), _CMP_GT_OQ));
  }
};

__m256 load_bias(const float* bias, int64_t first, int64_t channels) {
  alignas(32) float values[kLanes] = {};
  if (bias != nullptr) std::copy_n(bias + first, std::min(kLanes, channels - first), values);
  return _mm256_load_ps(values);
}

struct Window {
  int64_t offset, row_stride;  // in the destination
  int64_t rows, columns;       // of the destination that lie inside
};

// Over what was just stored; the channels that fill up the last block are 0, which ELU leaves alone.
__attribute__((noinline)) void apply_elu(const Window& window, const Finish& finish) {
  const __m256 alpha = _mm256_set1_ps(*finish.elu_alpha);
  for (int64_t row = 0; row < window.rows; ++row) {
    float* values = finish.dst + window.offset + row * window.row_stride;
    for (int64_t i = 0; i < window.columns * kLanes; i += kLanes)
      _mm256_store_ps(values + i, elu(_mm256_load_ps(values + i), alpha));
  }
}

template<int rows, int columns, Store how>
inline void store_outputs(const __m256 (&half_way)[rows][columns + 2], const Window& window,
                          int64_t stored_rows, int64_t stored_columns, const Finish& finish) {
#pragma GCC unroll 4
  for (int row = 0; row < rows; ++row) {
    if (row >= stored_rows) break;
    __m256 out[columns];
    transform_products<columns>(half_way[row], out);
    const int64_t offset = window.offset + row * window.row_stride;
#pragma GCC unroll 4
    for (int column = 0; column < columns; ++column) {
      if (column < stored_columns) finish.store<how>(offset + column * kLanes, out[column]);
    }
  }
}

// NaN if any of the four is. _mm256_max_ps alone gives its second operand then.
inline __m256 largest_of(__m256 a, __m256 b, __m256 c, __m256 d) {
  const __m256 largest = _mm256_max_ps(_mm256_max_ps(a, b), _mm256_max_ps(c, d));
  const __m256 any_nan = _mm256_or_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q), _mm256_cmp_ps(c, d, _CMP_UNORD_Q));
  return _mm256_or_ps(largest, any_nan);
}

// Adding the bias and the activations never swap two values' order: they may come after the maximum.
template<int rows, int columns>
inline void store_maxima(const __m256 (&half_way)[rows][columns + 2], const Window& window,
                         const Finish& finish) {
#pragma GCC unroll 2
  for (int row = 0; row < rows / 2; ++row) {
    if (row >= window.rows) break;
    __m256 upper[columns], lower[columns];
    transform_products<columns>(half_way[2 * row], upper);
    transform_products<columns>(half_way[2 * row + 1], lower);
    const int64_t offset = window.offset + row * window.row_stride;
#pragma GCC unroll 2
    for (int column = 0; column < columns / 2; ++column) {
      if (column >= window.columns) break;
      const __m256 largest =
          largest_of(upper[2 * column], lower[2 * column], upper[2 * column + 1], lower[2 * column + 1]);
      finish.store<Store::plain>(offset + column * kLanes, largest);
    }
  }
}

template<int rows, int columns, Store how>
inline void points_to_window(const float* points, int64_t point_stride, const Window& window,
                             const Finish& finish) {
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
  if constexpr (how == Store::pooled) {
    store_maxima<rows, columns>(half_way, window, finish);
  } else if (window.rows == rows && window.columns == columns) {
    store_outputs<rows, columns, how>(half_way, window, rows, columns, finish);
  } else {
    store_outputs<rows, columns, Store::plain>(half_way, window, window.rows, window.columns, finish);
  }
  if (finish.elu_alpha != nullptr) apply_elu(window, finish);
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

// `layout` is the destination's: that of the maxima when they are stored.
template<Store how>
Window window_of(const Tile& tile, const TileBlock& block, const ActivationLayout& layout) {
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

template<int rows, int columns, Store how>
void transform_flat(const Task& task) {
  for (int i = 0; i < task.block.count; ++i) {
    const Window window = window_of<how>(task.block.tiles[i], task.block, task.layout);
    points_to_window<rows, columns, how>(task.products + i * kLanes, kBlockTiles * kLanes, window,
                                         task.finish);
  }
}

template<int rows, int columns>
void transform_deep(const Task& task) {
  alignas(32) float planes[kTile * kPlanePoints * kLanes];
  for (int i = 0; i < task.block.count; ++i) {
    const Tile& tile = task.block.tiles[i];
    points_to_planes<rows, columns>(task.products + i * kLanes, planes);
    Window window = window_of<Store::plain>(tile, task.block, task.layout);
    const int64_t depths = std::min<int64_t>(kTile, task.layout.extents[0] - tile.depth);
    for (int64_t depth = 0; depth < depths; ++depth, window.offset += task.layout.plane_stride) {
      points_to_window<rows, columns, Store::plain>(planes + depth * kPlanePoints * kLanes, kLanes, window,
                                                    task.finish);
    }
  }
}

// By rows, then columns of outputs, from the smallest tile on.
using Table = std::array<std::array<void (*)(const Task&), 3>, 3>;
static_assert(kMinTile == 2 && kTile == 4);

template<Store how>
constexpr Table kFlat = {{{transform_flat<2, 2, how>, transform_flat<2, 3, how>, transform_flat<2, 4, how>},
                          {transform_flat<3, 2, how>, transform_flat<3, 3, how>, transform_flat<3, 4, how>},
                          {transform_flat<4, 2, how>, transform_flat<4, 3, how>, transform_flat<4, 4, how>}}};
constexpr Table kDeep = {{{transform_deep<2, 2>, transform_deep<2, 3>, transform_deep<2, 4>},
                          {transform_deep<3, 2>, transform_deep<3, 3>, transform_deep<3, 4>},
                          {transform_deep<4, 2>, transform_deep<4, 3>, transform_deep<4, 4>}}};

const Table& table_for(const Convolution& convolution, const ForwardArguments& arguments, bool streamed) {
  if (convolution.kernel_depth == 3) return kDeep;
  if (arguments.max_pool) return kFlat<Store::pooled>;
  return streamed ? kFlat<Store::streamed> : kFlat<Store::plain>;
}

}  // namespace

void points_to_outputs(const Convolution& convolution, const ActivationLayout& layout, const TileBlock& block,
                       const float* products, int64_t channel_block, const ForwardArguments& arguments,
                       bool streamed) {
  const int64_t offset = channel_block * layout.block_stride;
  const bool masks = arguments.mask != nullptr;
  const float* beside = masks ? arguments.mask : arguments.residual;
  const float floor = arguments.activation == Activation::relu ? 0 : -std::numeric_limits<float>::infinity();
  const Finish finish = {load_bias(arguments.bias, channel_block * kLanes, convolution.out_channels),
                         _mm256_set1_ps(floor),
                         beside == nullptr ? nullptr : beside + offset,
                         masks,
                         arguments.dst + offset,
                         arguments.activation == Activation::elu ? &arguments.alpha : nullptr};
  const Table& table = table_for(convolution, arguments, streamed);
  table[block.rows - kMinTile][block.columns - kMinTile]({layout, block, products, finish});
}

}  // namespace tacho::winograd
