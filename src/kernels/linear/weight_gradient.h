#pragma once

#include <cstdint>

#include "kernels/split.h"

namespace tacho::linear {

// A matrix that is the sum over a batch of a column times a row: the gradient of a layer's weights, or some
// rows of it, in float.
struct WeightGradient {
  int64_t batch = 1, rows = 0, columns = 0;
  const float* of_rows = nullptr;     // [batch][row]
  int64_t of_rows_stride = 0;         // of an image
  const float* of_columns = nullptr;  // [batch][column]
  int64_t of_columns_stride = 0;
  float* gradient = nullptr;  // [row][column]
};

// On a CPU with AVX2. The result does not depend on the number of threads, nor on which rows are computed at
// once.
void weight_gradient(const WeightGradient& task, float* scratch, int threads);
int64_t weight_gradient_scratch_floats(int64_t batch, int threads);
Split weight_gradient_split(int64_t batch, int64_t rows, int64_t columns);

}  // namespace tacho::linear
