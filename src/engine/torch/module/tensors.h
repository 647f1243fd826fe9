#pragma once

#include <ATen/ATen.h>

#include "base/tensor.h"
#include "graph/graph.h"

// Between tacho's tensors and libtorch's.
namespace tacho::torch_engine {

at::ScalarType scalar_type(DType dtype);

// Shares the memory, for as long as one call takes.
at::Tensor borrowed(const Tensor& tensor);

// Copies between the host's tensors, which are plain, and those of a plan, whatever their layout, precision
// and device. A GPU's go through memory that is pinned, which it reads and writes itself.
class HostCopies {
 public:
  HostCopies(bool staged, bool pinned) : staged_(staged), pinned_(pinned) {}

  void to_host(const at::Tensor& from, Tensor& to);
  void from_host(const Tensor& from, at::Tensor to);

 private:
  // Room for its values, in its type and shape.
  at::Tensor stage_of(const Tensor& tensor);

  bool staged_, pinned_;
  at::Tensor bytes_;  // of the largest one so far
};

}  // namespace tacho::torch_engine
