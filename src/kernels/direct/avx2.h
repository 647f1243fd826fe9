#pragma once

#include "kernels/direct/direct.h"

// What direct.h offers, for CPUs with AVX2 and FMA.
namespace tacho::direct {

void forward_f32_avx2(const Convolution& convolution, const ForwardArguments& arguments, float* scratch,
                      int threads);

}  // namespace tacho::direct
