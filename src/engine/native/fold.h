#pragma once

#include "base/tensor.h"

namespace tacho::native {

// Batch norm with fixed statistics is y = scale * x + shift, per channel.
struct ScaleShift {
  std::vector<double> scale, shift;
};
ScaleShift scale_shift(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& variance,
                       double epsilon);

// A convolution's weights and bias with the batch norm behind it folded in; `bias` may be null.
Tensor fold_weight(const Tensor& weight, const ScaleShift& norm);
Tensor fold_bias(const Tensor* bias, const ScaleShift& norm);

}  // namespace tacho::native
