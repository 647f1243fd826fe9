#pragma once

#include "kernels/direct/direct.h"

namespace tacho::direct {

// What direct.h offers, for blocks of one width.
struct Kernels {
  int64_t (*packed_weights_floats)(const Convolution&, Direction);
  void (*pack_weights)(const Convolution&, Direction, const float* weights, float* packed, int threads);
  Split (*pack_weights_split)(const Convolution&, Direction);

  int64_t (*gather_scratch_floats)(const Convolution&, Direction, int threads);
  void (*gather)(const Convolution&, Direction, const GatherArguments&, float* scratch, int threads);
  Split (*gather_split)(const Convolution&, Direction, int threads);

  int64_t (*backward_weights_scratch_floats)(const Convolution&, int threads);
  void (*backward_weights)(const Convolution&, const BackwardWeightsArguments&, float* scratch, int threads);
  Split (*backward_weights_split)(const Convolution&, bool with_bias, int threads);
};

namespace avx2 {
extern const Kernels kKernels;
}
namespace avx512 {
extern const Kernels kKernels;
}

}  // namespace tacho::direct
