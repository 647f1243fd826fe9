#pragma once

#include "kernels/blocked/blocked.h"

namespace tacho::blocked {

// The sweeps of blocked.h, for blocks of one width.
struct Kernels {
  void (*copy)(const Sweep&, Source src, Target dst);
  void (*scale_shift)(const Sweep&, Source src, const float* scale, const float* shift, bool relu,
                      Target dst);
  void (*elu)(const Sweep&, float alpha, Target y);
  void (*mask)(const Sweep&, Source by, Source x, Target y);
  void (*max_pool)(const Pooling&, Source src, Target dst, float* scratch, int threads);
  void (*average_pool)(const Pooling&, bool count_padding, Source src, Target dst, float* scratch,
                       int threads);
};

namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace tacho::blocked
