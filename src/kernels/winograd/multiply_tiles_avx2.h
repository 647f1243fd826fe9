#pragma once

#include <immintrin.h>

#include <array>

#include "kernels/winograd/backward_weights_plan.h"

// The matrix kernel of weight gradients. Included only by files compiled for AVX2 and FMA, each with its own
// copy: see instruction_set_test.py.
namespace tacho::winograd {
namespace {

struct TileRange {
  int64_t begin, end;
};

// The tiles of a panel that need a point.
struct TileRanges {
  std::array<TileRange, Tiling::kKinds> ranges;
  int count = 0;
};

struct TileSum {
  const TileRanges& tiles;
  const float* inputs;     // [tile][8], of which 4 are used
  const float* gradients;  // [vector][tile][8]
  int64_t vector_stride;
  float* sums;  // [4 rows][vector]
  int64_t row_stride;
  bool accumulate;
};

template<int vectors>
void multiply_tiles(const TileSum& task) {
  __m256 sums[kSumRows][vectors];
#pragma GCC unroll 4
  for (int row = 0; row < kSumRows; ++row) {
    _mm_prefetch(task.sums + row * task.row_stride, _MM_HINT_T0);
    _mm_prefetch(task.sums + row * task.row_stride + (vectors - 1) * kLanes, _MM_HINT_T0);
#pragma GCC unroll 3
    for (int i = 0; i < vectors; ++i) sums[row][i] = _mm256_setzero_ps();
  }
  for (int range = 0; range < task.tiles.count; ++range) {
    const auto [begin, end] = task.tiles.ranges[range];
    const float* inputs = task.inputs + begin * kLanes;
    const float* gradients = task.gradients + begin * kLanes;
#pragma GCC unroll 4
    for (int64_t tile = begin; tile < end; ++tile) {
      __m256 gradient[vectors];
#pragma GCC unroll 3
      for (int i = 0; i < vectors; ++i) gradient[i] = _mm256_load_ps(gradients + i * task.vector_stride);
#pragma GCC unroll 4
      for (int row = 0; row < kSumRows; ++row) {
        const __m256 input = _mm256_broadcast_ss(inputs + row);
#pragma GCC unroll 3
        for (int i = 0; i < vectors; ++i) sums[row][i] = _mm256_fmadd_ps(input, gradient[i], sums[row][i]);
      }
      inputs += kLanes;
      gradients += kLanes;
    }
  }
#pragma GCC unroll 4
  for (int row = 0; row < kSumRows; ++row) {
#pragma GCC unroll 3
    for (int i = 0; i < vectors; ++i) {
      float* sum = task.sums + row * task.row_stride + i * kLanes;
      _mm256_store_ps(sum, task.accumulate ? _mm256_add_ps(_mm256_load_ps(sum), sums[row][i]) : sums[row][i]);
    }
  }
}

// By number of vectors - 1.
constexpr std::array<void (*)(const TileSum&), kSumVectors> kMultiplyTiles = {
    multiply_tiles<1>, multiply_tiles<2>, multiply_tiles<3>};

}  // namespace
}  // namespace tacho::winograd
