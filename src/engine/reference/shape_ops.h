#pragma once

#include "base/tensor.h"
#include "graph/op.h"

// Contracts of the functions: see the ops of the same name in graph/op.h.
namespace tacho::reference {

// The same elements in another shape: Flatten, Reshape and, in inference, Dropout.
void copy_elements(const Tensor& x, Tensor& y);

void concat(std::span<const Tensor* const> parts, Tensor& y);
void slice(const Slice& op, const Tensor& x, Tensor& y);
void upsample(const Upsample& op, const Tensor& x, Tensor& y);
void crop(const Crop& op, const Tensor& x, Tensor& y);
void fence(const Fence& op, const Tensor& x, const Tensor& bounds, Tensor& y);
void upsample_backward(const UpsampleBackward& op, const Tensor& dy, Tensor& dx);

}  // namespace tacho::reference
