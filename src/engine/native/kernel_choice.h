#pragma once

#include <functional>
#include <vector>

#include "engine/engine.h"
#include "engine/native/kernel_cache.h"

namespace tacho::native {

// The fastest candidate of each convolution: timed on its shape with the threads of `options`, unless the
// cache knows it already. A kernel forced by `options` is taken wherever it is a candidate.
KernelChoice choose_kernels(const Program& program, const CompileOptions& options, KernelCache& cache);

// What a convolution does that multiplies every weight with every position of the image under it; 0 for
// gradients.
double direct_flop(const Program& program, const Instruction& instruction);

// Gives every kernel to `time`, with the best time so far, and takes its time. Winograd first: where that is
// surely below what the others could ever reach, they are left out.
void time_in_turn(std::vector<ConvolutionKernel> kernels, double least_direct_ms,
                  const std::function<double(ConvolutionKernel kernel, double best_ms)>& time);

}  // namespace tacho::native
