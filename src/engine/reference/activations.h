#pragma once

#include "base/random.h"
#include "base/tensor.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h.
namespace tacho::reference {

void relu(const Tensor& x, Tensor& y);
void relu_backward(const Tensor& y, const Tensor& dy, Tensor& dx);
void elu(const Elu& op, const Tensor& x, Tensor& y);
void elu_backward(const EluBackward& op, const Tensor& y, const Tensor& dy, Tensor& dx);
void sigmoid(const Tensor& x, Tensor& y);
void sigmoid_backward(const Tensor& y, const Tensor& dy, Tensor& dx);

void add(const Tensor& a, const Tensor& b, Tensor& y);

void dropout_training(const Dropout& op, const Random& stream, const Tensor& x, Tensor& y, Tensor& mask);
void dropout_backward(const DropoutBackward& op, const Tensor& mask, const Tensor& dy, Tensor& dx);

}  // namespace tacho::reference
