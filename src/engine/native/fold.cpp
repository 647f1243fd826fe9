#include "engine/native/fold.h"

#include <cmath>

namespace tacho::native {

ScaleShift scale_shift(const Tensor& weight, const Tensor& bias, const Tensor& mean, const Tensor& variance,
                       double epsilon) {
  ScaleShift result;
  for (size_t c = 0; c < static_cast<size_t>(weight.size()); ++c) {
    const double scale = weight.values<float>()[c] / std::sqrt(variance.values<float>()[c] + epsilon);
    result.scale.push_back(scale);
    result.shift.push_back(bias.values<float>()[c] - scale * mean.values<float>()[c]);
  }
  return result;
}

Tensor fold_weight(const Tensor& weight, const ScaleShift& norm) {
  Tensor folded = weight.clone();
  const std::span<float> values = folded.values<float>();
  const size_t per_channel = values.size() / norm.scale.size();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(values[i] * norm.scale[i / per_channel]);
  }
  return folded;
}

Tensor fold_bias(const Tensor* bias, const ScaleShift& norm) {
  Tensor folded({static_cast<int64_t>(norm.shift.size())}, DType::f32);
  for (size_t c = 0; c < norm.shift.size(); ++c) {
    const double before = bias == nullptr ? 0.0 : bias->values<float>()[c];
    folded.values<float>()[c] = static_cast<float>(norm.scale[c] * before + norm.shift[c]);
  }
  return folded;
}

}  // namespace tacho::native
