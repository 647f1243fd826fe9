#pragma once

#include "kernels/winograd/backward_weights_plan.h"

namespace tacho::winograd {

// Adds up the workers' sums, which lie `worker_stride` apart, and transforms them to gradients of plain
// weights.
void unpack_weight_gradients(const Convolution& convolution, const BackwardWeightsPlan& plan,
                             const float* sums, int64_t worker_stride, bool accumulate, float* diff_weights,
                             int threads);

}  // namespace tacho::winograd
