#include <immintrin.h>
#include <omp.h>

#include <algorithm>

#include "kernels/instruction_set.h"
#include "kernels/linear/weight_gradient.h"

namespace tacho::linear {
namespace {

using blocked::avx2::kLanes;

// What is summed in registers at once. A row of it is a line of the cache.
constexpr int kTileRows = 6, kTileVectors = 2;
constexpr int64_t kTileColumns = kTileVectors * kLanes;

// Rows and columns that a thread copies first, tile by tile and there image by image: as they are, images
// often lie a power of two apart, where they push each other out of the cache.
struct Panel {
  static constexpr int64_t kFloats = 16 << 10;  // of all images' rows or columns, where a tile is no more
  static constexpr int64_t kMostRows = 40 * kTileRows, kMostColumns = 32 * kTileColumns;

  explicit Panel(int64_t batch)
      : rows(std::clamp(kFloats / batch / kTileRows * kTileRows, int64_t{kTileRows}, kMostRows)),
        columns(std::clamp(kFloats / batch / kTileColumns * kTileColumns, kTileColumns, kMostColumns)) {}

  int64_t rows, columns;
};

// Zeros follow the last value up to a whole tile.
template<int tile>
void copy_tiles(const float* from, int64_t stride, int64_t batch, int64_t count, float* to) {
  for (int64_t first = 0; first < count; first += tile) {
    const int64_t values = std::min<int64_t>(tile, count - first);
    for (int64_t image = 0; image < batch; ++image, to += tile) {
      std::copy_n(from + image * stride + first, values, to);
      std::fill_n(to + values, tile - values, 0.0F);
    }
  }
}

void multiply(int64_t batch, const float* of_rows, const float* of_columns, float* to, int64_t to_stride) {
  __m256 sums[kTileRows][kTileVectors];
#pragma GCC unroll 6
  for (auto& row : sums) row[0] = row[1] = _mm256_setzero_ps();
  for (int64_t image = 0; image < batch; ++image) {
    const __m256 values[] = {_mm256_loadu_ps(of_columns), _mm256_loadu_ps(of_columns + kLanes)};
#pragma GCC unroll 6
    for (int row = 0; row < kTileRows; ++row) {
      const __m256 factor = _mm256_broadcast_ss(of_rows + row);
      sums[row][0] = _mm256_fmadd_ps(factor, values[0], sums[row][0]);
      sums[row][1] = _mm256_fmadd_ps(factor, values[1], sums[row][1]);
    }
    of_rows += kTileRows;
    of_columns += kTileColumns;
  }
#pragma GCC unroll 6
  for (int row = 0; row < kTileRows; ++row) {
    _mm256_storeu_ps(to + row * to_stride, sums[row][0]);
    _mm256_storeu_ps(to + row * to_stride + kLanes, sums[row][1]);
  }
}

// A panel's rows and columns, of which these many exist.
void multiply_panel(const WeightGradient& task, int64_t rows, int64_t columns, const float* of_rows,
                    const float* of_columns, float* to) {
  for (int64_t row = 0; row < rows; row += kTileRows) {
    for (int64_t column = 0; column < columns; column += kTileColumns) {
      const float* tile_rows = of_rows + row * task.batch;
      const float* tile_columns = of_columns + column * task.batch;
      float* corner = to + row * task.columns + column;
      if (row + kTileRows <= rows && column + kTileColumns <= columns) {
        multiply(task.batch, tile_rows, tile_columns, corner, task.columns);
        continue;
      }
      alignas(32) float whole[kTileRows * kTileColumns];
      multiply(task.batch, tile_rows, tile_columns, whole, kTileColumns);
      for (int64_t r = 0; r < std::min<int64_t>(kTileRows, rows - row); ++r)
        std::copy_n(whole + r * kTileColumns, std::min(kTileColumns, columns - column),
                    corner + r * task.columns);
    }
  }
}

}  // namespace

Split weight_gradient_split(int64_t batch, int64_t rows, int64_t columns) {
  const Panel panel(batch);
  return evenly(divide_up(columns, panel.columns) * divide_up(rows, panel.rows));
}

int64_t weight_gradient_scratch_floats(int64_t batch, int threads) {
  const Panel panel(batch);
  return threads * batch * (panel.rows + panel.columns);
}

void weight_gradient(const WeightGradient& task, float* scratch, int threads) {
  const Panel panel(task.batch);
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t column = 0; column < task.columns; column += panel.columns) {
    for (int64_t row = 0; row < task.rows; row += panel.rows) {
      const int64_t rows = std::min(panel.rows, task.rows - row),
                    columns = std::min(panel.columns, task.columns - column);
      float* of_columns = scratch + omp_get_thread_num() * task.batch * (panel.rows + panel.columns);
      float* of_rows = of_columns + task.batch * panel.columns;
      copy_tiles<kTileColumns>(task.of_columns + column, task.of_columns_stride, task.batch, columns,
                               of_columns);
      copy_tiles<kTileRows>(task.of_rows + row, task.of_rows_stride, task.batch, rows, of_rows);
      multiply_panel(task, rows, columns, of_rows, of_columns, task.gradient + row * task.columns + column);
    }
  }
}

}  // namespace tacho::linear
