#pragma once

#include <ATen/ATen.h>

#include "base/tensor.h"
#include "graph/graph.h"

// Between tacho's tensors and libtorch's.
namespace tacho::torch_engine {

at::ScalarType scalar_type(DType dtype);

// Shares the memory, for as long as one call takes.
at::Tensor borrowed(const Tensor& tensor);

// Copies whatever layout, precision and device `from` has into the plain one of `to`.
void copy_to_host(const at::Tensor& from, Tensor& to);

}  // namespace tacho::torch_engine
