#pragma once

#include "base/tensor.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h. A null argmax is not wanted.
namespace tacho::reference {

void max_pool(const MaxPool& op, const Tensor& x, Tensor& y, Tensor* argmax);
void max_pool_backward(const MaxPool& op, const Tensor& argmax, const Tensor& dy, Tensor& dx);

void average_pool(const AveragePool& op, const Tensor& x, Tensor& y);
void average_pool_backward(const AveragePool& op, const Tensor& dy, Tensor& dx);

// Global pooling is adaptive pooling to one cell.
void adaptive_average_pool(const Tensor& x, Tensor& y);
void adaptive_average_pool_backward(const Tensor& dy, Tensor& dx);

}  // namespace tacho::reference
