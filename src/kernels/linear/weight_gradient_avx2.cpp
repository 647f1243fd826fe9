#include <immintrin.h>

#include <algorithm>

#include "kernels/blocked/layout.h"
#include "kernels/linear/weight_gradient.h"

namespace tacho::linear {
namespace {

using blocked::divide_up;
using blocked::kLanes;

constexpr int kTileRows = 4, kTileVectors = 3;
constexpr int64_t kPanelColumns = 20 * kTileVectors * kLanes;  // of a small batch, they stay in L1
constexpr int64_t kPanelRows = 64;

// A vector's elements before `count`.
__m256i first_lanes(int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

// Rows from `row` and columns from `column` on. `last`: which elements of the last vector there are.
template<int rows, int vectors>
void multiply(const WeightGradient& task, int64_t row, int64_t column, __m256i last) {
  __m256 sums[rows][vectors];
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) sums[r][v] = _mm256_setzero_ps();
  }
  const float* of_rows = task.of_rows + row;
  const float* of_columns = task.of_columns + column;
  for (int64_t image = 0; image < task.batch; ++image) {
    __m256 values[vectors];
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      const float* from = of_columns + v * kLanes;
      values[v] = v + 1 < vectors ? _mm256_loadu_ps(from) : _mm256_maskload_ps(from, last);
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; ++r) {
      const __m256 factor = _mm256_broadcast_ss(of_rows + r);
#pragma GCC unroll 3
      for (int v = 0; v < vectors; ++v) sums[r][v] = _mm256_fmadd_ps(factor, values[v], sums[r][v]);
    }
    of_rows += task.of_rows_stride;
    of_columns += task.of_columns_stride;
  }
#pragma GCC unroll 4
  for (int r = 0; r < rows; ++r) {
    float* to = task.gradient + (row + r) * task.columns + column;
#pragma GCC unroll 3
    for (int v = 0; v < vectors; ++v) {
      if (v + 1 < vectors) {
        _mm256_storeu_ps(to + v * kLanes, sums[r][v]);
      } else {
        _mm256_maskstore_ps(to + v * kLanes, last, sums[r][v]);
      }
    }
  }
}

template<int vectors>
void multiply_rows(const WeightGradient& task, int64_t row, int64_t row_end, int64_t column, __m256i last) {
  for (; row + kTileRows <= row_end; row += kTileRows) multiply<kTileRows, vectors>(task, row, column, last);
  for (; row < row_end; ++row) multiply<1, vectors>(task, row, column, last);
}

}  // namespace

Split weight_gradient_split(int64_t rows, int64_t columns) {
  return evenly(divide_up(columns, kPanelColumns) * divide_up(rows, kPanelRows));
}

void weight_gradient(const WeightGradient& task, int threads) {
#pragma omp parallel for collapse(2) num_threads(threads) schedule(static)
  for (int64_t panel = 0; panel < divide_up(task.columns, kPanelColumns); ++panel) {
    for (int64_t row = 0; row < task.rows; row += kPanelRows) {
      const int64_t row_end = std::min(row + kPanelRows, task.rows);
      const int64_t end = std::min((panel + 1) * kPanelColumns, task.columns);
      for (int64_t column = panel * kPanelColumns; column < end; column += kTileVectors * kLanes) {
        const int64_t count = std::min(end - column, kTileVectors * kLanes);
        const int64_t vectors = divide_up(count, kLanes);
        const __m256i last = first_lanes(count - (vectors - 1) * kLanes);
        const auto multiply_some = vectors == 1   ? multiply_rows<1>
                                   : vectors == 2 ? multiply_rows<2>
                                                  : multiply_rows<kTileVectors>;
        multiply_some(task, row, row_end, column, last);
      }
    }
  }
}

}  // namespace tacho::linear
