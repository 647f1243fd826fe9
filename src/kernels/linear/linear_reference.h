#pragma once

#include "kernels/linear/linear.h"
#include "kernels/linear/weight_gradient.h"

namespace tacho::linear {

// The same by its definition, with plain weights [output][input]; `Real` is the type of sums and results,
// float or double.
template<typename Real>
void forward_reference(const Layer& layer, const float* src, const float* weights, const float* bias,
                       bool relu, Real* dst);
void weight_gradient_reference(const WeightGradient& task, double* gradient);

}  // namespace tacho::linear
