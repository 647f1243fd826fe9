#include "engine/torch/module/tensors.h"

#include <ATen/core/grad_mode.h>

#include <stdexcept>

namespace tacho::torch_engine {

at::ScalarType scalar_type(DType dtype) {
  switch (dtype) {
    case DType::f32: return at::kFloat;
    case DType::f64: return at::kDouble;
    case DType::i32: return at::kInt;
    case DType::i64: return at::kLong;
    case DType::u8: return at::kByte;
  }
  throw std::logic_error("[torch] no such type");
}

at::Tensor borrowed(const Tensor& tensor) {
  return at::from_blob(const_cast<std::byte*>(tensor.raw()), tensor.shape(), scalar_type(tensor.dtype()));
}

void copy_to_host(const at::Tensor& from, Tensor& to) {
  const at::NoGradGuard no_gradients;
  borrowed(to).copy_(from.detach().reshape(to.shape()));
}

}  // namespace tacho::torch_engine
