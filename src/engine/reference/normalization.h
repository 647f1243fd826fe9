#pragma once

#include "base/tensor.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h.
namespace tacho::reference {

void batch_norm_inference(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                          const Tensor& running_mean, const Tensor& running_var, Tensor& y);
void batch_norm_training(const BatchNorm& op, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         Tensor& running_mean, Tensor& running_var, Tensor& y, Tensor& mean,
                         Tensor& inverse_deviation);
void batch_norm_backward(const Tensor& x, const Tensor& weight, const Tensor& mean,
                         const Tensor& inverse_deviation, const Tensor& dy, Tensor& dx, Tensor& dweight,
                         Tensor& dbias);

}  // namespace tacho::reference
