#include "base/tensor.h"

#include <cstring>

namespace tacho {

size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return 4;
    case DType::f64: return 8;
    case DType::i32: return 4;
    case DType::i64: return 8;
    case DType::u8: return 1;
  }
  return 0;
}

std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32: return "float32";
    case DType::f64: return "float64";
    case DType::i32: return "int32";
    case DType::i64: return "int64";
    case DType::u8: return "uint8";
  }
  return "?";
}

Tensor Tensor::clone() const {
  Tensor copy(shape_, dtype_);
  if (bytes() > 0) std::memcpy(copy.raw(), raw(), bytes());
  return copy;
}

Weights clone(const Weights& weights) {
  Weights copy;
  for (const auto& [name, tensor] : weights) copy.emplace(name, tensor.clone());
  return copy;
}

}  // namespace tacho
