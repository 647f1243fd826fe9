#pragma once

#include "base/tensor.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h. A null bias is no bias.
namespace tacho::reference {

void convolution(const Convolution& op, const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& y);
void convolution_backward_data(const Convolution& op, const Tensor& dy, const Tensor& weight, Tensor& dx);
void convolution_backward_weights(const Convolution& op, const Tensor& x, const Tensor& dy, Tensor& dweight,
                                  Tensor* dbias);

}  // namespace tacho::reference
