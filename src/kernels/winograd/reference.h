#pragma once

#include "kernels/winograd/winograd.h"

// The same convolutions by their definition, for tests: `Real` is the type of sums and results, float or
// double.
namespace tacho::winograd {

template<typename Real>
void forward_reference(const Convolution& convolution, const float* src, const float* weights,
                       const float* bias, const float* residual, Activation activation, float alpha,
                       Real* dst);

template<typename Real>
void backward_data_reference(const Convolution& convolution, const float* diff_dst, const float* weights,
                             Real* diff_src);

template<typename Real>
void backward_weights_reference(const Convolution& convolution, const float* src, const float* diff_dst,
                                Real* diff_weights, Real* diff_bias);

}  // namespace tacho::winograd
