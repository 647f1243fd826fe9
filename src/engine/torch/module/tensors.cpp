#include "engine/torch/module/tensors.h"

#include <ATen/core/grad_mode.h>

#include <cstring>
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

void HostCopies::to_host(const at::Tensor& from, Tensor& to) {
  const at::NoGradGuard no_gradients;
  const at::Tensor plain = from.detach().reshape(to.shape());
  if (!staged_) {
    borrowed(to).copy_(plain);
    return;
  }
  const at::Tensor stage = stage_of(to);
  stage.copy_(plain);
  std::memcpy(to.raw(), stage.data_ptr(), stage.nbytes());
}

void HostCopies::from_host(const Tensor& from, at::Tensor to) {
  const at::NoGradGuard no_gradients;
  if (!staged_) {
    to.copy_(borrowed(from));
    return;
  }
  const at::Tensor stage = stage_of(from);
  std::memcpy(stage.data_ptr(), from.raw(), stage.nbytes());
  to.copy_(stage);
}

at::Tensor HostCopies::stage_of(const Tensor& tensor) {
  const at::ScalarType type = scalar_type(tensor.dtype());
  const int64_t bytes = elements(tensor.shape()) * static_cast<int64_t>(at::elementSize(type));
  if (!bytes_.defined() || bytes_.numel() < bytes) {
    bytes_ = at::empty({bytes}, at::TensorOptions(at::kByte).pinned_memory(pinned_));
  }
  return at::from_blob(bytes_.data_ptr(), tensor.shape(), type);
}

}  // namespace tacho::torch_engine
