#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/shape.h"

namespace tacho {

enum class DType { f32, f64, i32, i64, u8 };

size_t size_of(DType dtype);
std::string_view name_of(DType dtype);

template<typename T>
DType dtype_of();

// A dense host tensor in row-major order that owns its memory. Copying is explicit: see clone().
class Tensor {
 public:
  Tensor() = default;
  Tensor(Shape shape, DType dtype) : shape_(std::move(shape)), dtype_(dtype), buffer_(bytes()) {}

  template<typename T>
  static Tensor from(Shape shape, std::span<const T> values);

  const Shape& shape() const { return shape_; }
  DType dtype() const { return dtype_; }
  int64_t size() const { return elements(shape_); }
  size_t bytes() const { return static_cast<size_t>(size()) * size_of(dtype_); }
  std::byte* raw() { return buffer_.data(); }
  const std::byte* raw() const { return buffer_.data(); }

  // The elements as T, which must be the tensor's own type.
  template<typename T>
  std::span<T> values();
  template<typename T>
  std::span<const T> values() const;

  Tensor clone() const;

 private:
  Shape shape_;
  DType dtype_ = DType::f32;
  Buffer buffer_;
};

// Parameters and running statistics of a network by name, as torchvision names them.
using Weights = std::map<std::string, Tensor>;

Weights clone(const Weights& weights);

}  // namespace tacho

#include "base/tensor_inline.h"
