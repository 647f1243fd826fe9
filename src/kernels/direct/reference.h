#pragma once

#include "kernels/direct/direct.h"

// The same as nested loops, for tests. Weights are plain OI[D]HW, sums and results are doubles.
namespace tacho::direct {

void gather_reference(const Convolution& convolution, Direction direction, const GatherArguments& arguments,
                      const float* weights, double* written);

// `diff_bias` may be null.
void backward_weights_reference(const Convolution& convolution, const float* src, const float* diff_dst,
                                double* diff_weights, double* diff_bias);

}  // namespace tacho::direct
