#pragma once

#include "kernels/winograd/winograd.h"

namespace tacho::winograd {

// What winograd.h offers, for blocks of one width.
struct Kernels {
  int64_t (*packed_weights_floats)(const Convolution&);
  void (*pack_weights)(const Convolution&, WeightOrder, const float* weights, float* packed, int threads);
  Split (*pack_weights_split)(const Convolution&);

  int64_t (*forward_scratch_floats)(const Convolution&, int threads);
  void (*forward)(const Convolution&, const ForwardArguments&, float* scratch, int threads);
  Split (*forward_split)(const Convolution&, int threads);

  int64_t (*packed_part_floats)(const Convolution&);
  int64_t (*packing_forward_scratch_floats)(const Convolution&, int threads);
  void (*packing_forward)(const Convolution&, WeightOrder, const float* weights, const ForwardArguments&,
                          float* scratch, int threads);
  Split (*packing_forward_split)(const Convolution&, int threads);

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

}  // namespace tacho::winograd
