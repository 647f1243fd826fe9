#pragma once

#include <algorithm>
#include <cassert>

namespace tacho {

template<>
inline DType dtype_of<float>() {
  return DType::f32;
}
template<>
inline DType dtype_of<double>() {
  return DType::f64;
}
template<>
inline DType dtype_of<int32_t>() {
  return DType::i32;
}
template<>
inline DType dtype_of<int64_t>() {
  return DType::i64;
}
template<>
inline DType dtype_of<uint8_t>() {
  return DType::u8;
}

template<typename T>
std::span<T> Tensor::values() {
  assert(dtype_of<T>() == dtype_);
  return {reinterpret_cast<T*>(raw()), static_cast<size_t>(size())};
}

template<typename T>
std::span<const T> Tensor::values() const {
  assert(dtype_of<T>() == dtype_);
  return {reinterpret_cast<const T*>(raw()), static_cast<size_t>(size())};
}

template<typename T>
Tensor Tensor::from(Shape shape, std::span<const T> values) {
  Tensor tensor(std::move(shape), dtype_of<T>());
  assert(static_cast<size_t>(tensor.size()) == values.size());
  std::ranges::copy(values, tensor.values<T>().begin());
  return tensor;
}

}  // namespace tacho
