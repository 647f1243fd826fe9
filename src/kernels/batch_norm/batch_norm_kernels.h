#pragma once

#include "kernels/batch_norm/batch_norm.h"

namespace tacho::batch_norm {

// The sweeps of batch_norm.h, for blocks of one width.
struct Kernels {
  void (*statistics)(const Sweep&, Source x, const Statistics& result, float* scratch);
  void (*moments)(const Sweep&, Source x, double* result, float* scratch);
  void (*normalize)(const Sweep&, Source x, const Parameters&, Target y, float* scratch);
  void (*normalize_batch)(const Sweep&, Source x, const Parameters&, const Statistics& result, Target y,
                          float* scratch);
  void (*backward)(const Sweep&, Source x, Source dy, const Parameters&, const Gradients& result,
                   float* scratch);
  void (*backward_parameters)(const Sweep&, Source x, Source dy, const Parameters&, float* dweight,
                              float* dbias, float* scratch);
  void (*backward_data)(const Sweep&, Source x, Source dy, const Parameters&, const BackwardSums& sums,
                        Source added, Target dx, float* scratch);
};

namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

// Rows of factors, one for each channel, that they keep behind partial sums.
inline constexpr int64_t kFactorRows = 5;

}  // namespace tacho::batch_norm
