#include <cmath>

#include "kernels/optimizer/optimizer.h"

namespace tacho {
namespace {

struct Update {
  int64_t step;
  std::span<float> parameters;
  std::span<const float> gradients;
  std::span<float> state;

  void operator()(const Sgd& rule) const {
    for (size_t i = 0; i < parameters.size(); ++i) {
      const double p = parameters[i];
      const double g = gradients[i] + rule.weight_decay * p;
      double v = g;
      if (rule.momentum != 0) {
        v += rule.momentum * state[i];
        state[i] = static_cast<float>(v);
      }
      const double direction = rule.nesterov ? g + rule.momentum * v : v;
      parameters[i] = static_cast<float>(p - rule.learning_rate * direction);
    }
  }

  void operator()(const Adam& rule) const {
    const auto mean = state.first(parameters.size()), square = state.last(parameters.size());
    for (size_t i = 0; i < parameters.size(); ++i) {
      const double p = parameters[i];
      const double g = gradients[i] + rule.weight_decay * p;
      const double m = rule.beta1 * mean[i] + (1 - rule.beta1) * g;
      const double s = rule.beta2 * square[i] + (1 - rule.beta2) * g * g;
      const double unbiased_m = m / (1 - std::pow(rule.beta1, step));
      const double unbiased_s = s / (1 - std::pow(rule.beta2, step));
      mean[i] = static_cast<float>(m);
      square[i] = static_cast<float>(s);
      parameters[i] =
          static_cast<float>(p - rule.learning_rate * unbiased_m / (std::sqrt(unbiased_s) + rule.epsilon));
    }
  }
};

}  // namespace

void apply_update_reference(const UpdateRule& rule, int64_t step, std::span<float> parameters,
                            std::span<const float> gradients, std::span<float> state) {
  std::visit(Update{step, parameters, gradients, state}, rule);
}

}  // namespace tacho
