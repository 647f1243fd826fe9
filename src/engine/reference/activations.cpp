#include "engine/reference/activations.h"

#include <algorithm>
#include <cmath>

#include "graph/dropout.h"

namespace tacho::reference {
namespace {

template<typename F>
void map(const Tensor& x, Tensor& y, F function) {
  std::ranges::transform(x.values<float>(), y.values<float>().begin(),
                         [&](double value) { return static_cast<float>(function(value)); });
}

template<typename F>
void map(const Tensor& a, const Tensor& b, Tensor& y, F function) {
  std::ranges::transform(
      a.values<float>(), b.values<float>(), y.values<float>().begin(),
      [&](double left, double right) { return static_cast<float>(function(left, right)); });
}

void scale_kept(double probability, const Tensor& mask, const Tensor& from, Tensor& to) {
  const double scale = 1 / (1 - probability);
  std::ranges::transform(
      mask.values<uint8_t>(), from.values<float>(), to.values<float>().begin(),
      [&](uint8_t kept, double value) { return static_cast<float>(kept ? value * scale : 0.0); });
}

}  // namespace

void relu(const Tensor& x, Tensor& y) {
  map(x, y, [](double value) { return value < 0 ? 0 : value; });
}

void relu_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  map(y, dy, dx, [](double value, double gradient) { return value > 0 ? gradient : 0; });
}

void elu(const Elu& op, const Tensor& x, Tensor& y) {
  map(x, y, [&](double value) { return value < 0 ? op.alpha * std::expm1(value) : value; });
}

void elu_backward(const EluBackward& op, const Tensor& y, const Tensor& dy, Tensor& dx) {
  // For negative x the slope is alpha * exp(x), and y is alpha * exp(x) - alpha.
  map(y, dy, dx,
      [&](double value, double gradient) { return value > 0 ? gradient : gradient * (value + op.alpha); });
}

void sigmoid(const Tensor& x, Tensor& y) {
  map(x, y, [](double value) { return 1 / (1 + std::exp(-value)); });
}

void sigmoid_backward(const Tensor& y, const Tensor& dy, Tensor& dx) {
  map(y, dy, dx, [](double value, double gradient) { return gradient * value * (1 - value); });
}

void add(const Tensor& a, const Tensor& b, Tensor& y) {
  map(a, b, y, [](double left, double right) { return left + right; });
}

void dropout_training(const Dropout& op, const Random& stream, const Tensor& x, Tensor& y, Tensor& mask) {
  const auto kept = mask.values<uint8_t>();
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = dropout_keeps(stream, i, op.probability);
  scale_kept(op.probability, mask, x, y);
}

void dropout_backward(const DropoutBackward& op, const Tensor& mask, const Tensor& dy, Tensor& dx) {
  scale_kept(op.probability, mask, dy, dx);
}

}  // namespace tacho::reference
