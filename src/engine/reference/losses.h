#pragma once

#include "base/tensor.h"

// Contracts of the functions: see the ops of the same name in graph/op.h.
namespace tacho::reference {

void softmax_cross_entropy(double smoothing, const Tensor& logits, const Tensor& labels, Tensor& loss,
                           Tensor& probabilities);
void softmax_cross_entropy_backward(double smoothing, const Tensor& probabilities, const Tensor& labels,
                                    Tensor& dlogits);

void dice_loss(const Tensor& x, const Tensor& target, Tensor& loss, Tensor& sums);
void dice_loss_backward(const Tensor& x, const Tensor& target, const Tensor& sums, Tensor& dx);

}  // namespace tacho::reference
