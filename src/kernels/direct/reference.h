#pragma once

#include "kernels/direct/direct.h"

// The same convolution as nested loops, for tests. Weights are plain OI[D]HW, sums and results are doubles.
namespace tacho::direct {

void forward_reference(const Convolution& convolution, const ForwardArguments& arguments,
                       const float* weights, double* dst);

}  // namespace tacho::direct
