#pragma once

#include "kernels/winograd/layout.h"

// What winograd.h offers, for CPUs with AVX2 and FMA.
namespace tacho::winograd {

// Where weights lie: the taps of one pair of channels are neighbours.
struct PlainWeights {
  const float* data;
  int64_t out_stride, in_stride;
  bool flipped;
};

void pack_weights_f32_avx2(const Convolution& convolution, const PlainWeights& weights, float* packed,
                           int threads);

// `packed` is where the slice's first point and input channel go, `point_stride` from one point to the next.
void pack_chunk_f32_avx2(const Convolution& convolution, const PlainWeights& weights,
                         const WeightChunk& chunk, float* packed, int64_t point_stride);

// forward_f32_avx2() by ForwardPlan::packing(): `scratch` holds its workspace and one packed part.
void packing_forward_f32_avx2(const Convolution& convolution, const PlainWeights& weights,
                              const ForwardArguments& arguments, float* scratch, int threads);

void forward_f32_avx2(const Convolution& convolution, const ForwardArguments& arguments, float* scratch,
                      int threads);

void backward_weights_f32_avx2(const Convolution& convolution, const BackwardWeightsArguments& arguments,
                               float* scratch, int threads);

}  // namespace tacho::winograd
