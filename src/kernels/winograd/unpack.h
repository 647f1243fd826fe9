#pragma once

#include "kernels/winograd/backward_weights_plan.h"

namespace tacho::winograd::TACHO_ISA {

// Adds up the workers' sums, which lie `worker_stride` apart, and transforms them to gradients of plain
// weights. They are those of input channels [begin, end). Called by all threads of a team, which wait for
// each other.
void unpack_weight_gradients(const Convolution& convolution, const BackwardWeightsPlan& plan,
                             const float* sums, int64_t worker_stride, int64_t begin, int64_t end,
                             const BackwardWeightsArguments& arguments);

}  // namespace tacho::winograd::TACHO_ISA
