#include "engine/reference/linear.h"

#include <vector>

#include "engine/reference/layout.h"
#include "engine/reference/vector_math.h"

namespace tacho::reference {
namespace {

void store(std::span<const double> from, std::span<float> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(from[i]);
}

}  // namespace

void linear(const Tensor& x, const Tensor& weight, const Tensor* bias, Tensor& y) {
  for (int64_t n = 0; n < y.shape()[0]; ++n) {
    const auto from = row(x, n);
    const std::vector<double> features(from.begin(), from.end());
    for (int64_t g = 0; g < y.shape()[1]; ++g) {
      const double offset = bias ? bias->values<float>()[static_cast<size_t>(g)] : 0.0;
      row(y, n)[static_cast<size_t>(g)] = static_cast<float>(offset + dot(row(weight, g), features));
    }
  }
}

void linear_backward_data(const Tensor& dy, const Tensor& weight, Tensor& dx) {
  for (int64_t n = 0; n < dy.shape()[0]; ++n) {
    std::vector<double> sums(static_cast<size_t>(dx.shape()[1]));
    for (int64_t g = 0; g < dy.shape()[1]; ++g) {
      add_scaled<float>(row(dy, n)[static_cast<size_t>(g)], row(weight, g), sums);
    }
    store(sums, row(dx, n));
  }
}

void linear_backward_weights(const Tensor& x, const Tensor& dy, Tensor& dweight, Tensor* dbias) {
  std::vector<double> sums(static_cast<size_t>(x.shape()[1]));
  for (int64_t g = 0; g < dy.shape()[1]; ++g) {
    std::ranges::fill(sums, 0.0);
    double bias_sum = 0;
    for (int64_t n = 0; n < dy.shape()[0]; ++n) {
      const double gradient = row(dy, n)[static_cast<size_t>(g)];
      add_scaled<float>(gradient, row(x, n), sums);
      bias_sum += gradient;
    }
    store(sums, row(dweight, g));
    if (dbias) dbias->values<float>()[static_cast<size_t>(g)] = static_cast<float>(bias_sum);
  }
}

}  // namespace tacho::reference
