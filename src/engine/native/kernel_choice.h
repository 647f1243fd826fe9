#pragma once

#include <vector>

#include "engine/engine.h"
#include "engine/native/kernel_cache.h"

namespace tacho::native {

// The kernel of each instruction; oneDNN where there is no choice.
using KernelChoice = std::vector<ConvolutionKernel>;

// The fastest candidate of each convolution: timed on its shape with the threads of `options`, unless the
// cache knows it already. A kernel forced by `options` is taken wherever it is a candidate.
KernelChoice choose_kernels(const Program& program, const CompileOptions& options, KernelCache& cache);

}  // namespace tacho::native
