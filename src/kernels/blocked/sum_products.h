#pragma once

#include <array>
#include <span>

#include "kernels/blocked/layout.h"
#include "kernels/vector.h"

// The matrix kernel of weight gradients: products of channels with other channels, summed over positions.
// Included only by files compiled for AVX2 or AVX-512, each with its own copy: see instruction_set_test.py.
namespace tacho::blocked::TACHO_ISA {
namespace {

struct PositionRange {
  int64_t begin, end;
};

struct ProductSum {
  std::span<const PositionRange> positions;
  const float* rows;     // [position][kLanes], of which kSumRows are used
  const float* vectors;  // [vector][position][kLanes]
  int64_t vector_stride;
  float* sums;  // [kSumRows][vector]
  int64_t row_stride;
  bool accumulate;
  const float* prefetch;  // what is read next, or `rows` where that is near anyway: fetched into L2, a line
                          // for every 4 positions
};

template<int vectors>
void sum_products(const ProductSum& task) {
  Vector sums[kSumRows][vectors];
#pragma GCC unroll 8
  for (int row = 0; row < kSumRows; ++row) {
    _mm_prefetch(task.sums + row * task.row_stride, _MM_HINT_T0);
    _mm_prefetch(task.sums + row * task.row_stride + (vectors - 1) * kLanes, _MM_HINT_T0);
#pragma GCC unroll 3
    for (int i = 0; i < vectors; ++i) sums[row][i] = zero();
  }
  const float* prefetch = task.prefetch;
  for (const auto [begin, end] : task.positions) {
    const float* rows = task.rows + begin * kLanes;
    const float* lanes = task.vectors + begin * kLanes;
    const auto add_position = [&] {
      Vector vector[vectors];
#pragma GCC unroll 3
      for (int i = 0; i < vectors; ++i) vector[i] = load(lanes + i * task.vector_stride);
#pragma GCC unroll 8
      for (int row = 0; row < kSumRows; ++row) {
        const Vector factor = broadcast_at(rows + row);
#pragma GCC unroll 3
        for (int i = 0; i < vectors; ++i) sums[row][i] = with_product(sums[row][i], factor, vector[i]);
      }
      rows += kLanes;
      lanes += kLanes;
    };
    int64_t position = begin;
    for (; position + 4 <= end; position += 4) {
      _mm_prefetch(prefetch, _MM_HINT_T1);
      prefetch += kLineFloats;
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) add_position();
    }
    for (; position < end; ++position) add_position();
  }
#pragma GCC unroll 8
  for (int row = 0; row < kSumRows; ++row) {
#pragma GCC unroll 3
    for (int i = 0; i < vectors; ++i) {
      float* sum = task.sums + row * task.row_stride + i * kLanes;
      store(sum, task.accumulate ? load(sum) + sums[row][i] : sums[row][i]);
    }
  }
}

// By number of vectors - 1.
constexpr std::array<void (*)(const ProductSum&), kSumVectors> kSumProducts = {
    sum_products<1>, sum_products<2>, sum_products<3>};

}  // namespace
}  // namespace tacho::blocked::TACHO_ISA
