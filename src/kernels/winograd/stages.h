#pragma once

#include "kernels/instruction_set.h"
#include "kernels/winograd/winograd.h"

// What takes vectors of the kernels that winograd.h offers.
namespace tacho::winograd::TACHO_ISA {

// Where weights lie: the taps of one pair of channels are neighbours.
struct PlainWeights {
  const float* data;
  int64_t out_stride, in_stride;
  bool flipped;
};

void pack_plain_weights(const Convolution& convolution, const PlainWeights& weights, float* packed,
                        int threads);

void forward(const Convolution& convolution, const ForwardArguments& arguments, float* scratch, int threads);

void backward_weights(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                      float* scratch, int threads);

}  // namespace tacho::winograd::TACHO_ISA
