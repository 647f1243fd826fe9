#pragma once

#include "base/tensor.h"

// Contracts of the functions: see the ops of the same name in graph/op.h. A null bias is no bias.
namespace tacho::reference {

void linear(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& y);
void linear_backward_data(const Tensor& dy, const Tensor& weight, Tensor& dx);
void linear_backward_weights(const Tensor& x, const Tensor& dy, Tensor& dweight, Tensor* dbias);

}  // namespace tacho::reference
