#include "kernels/optimizer/optimizer.h"

#include <cassert>
#include <cmath>

namespace tacho {
namespace {

// Each sweep goes through every array once. Its constants are computed in double and used as float.

void sweep_sgd_without_momentum(const Sgd& rule, int64_t count, float* __restrict parameters,
                                const float* __restrict gradients) {
  const auto rate = static_cast<float>(rule.learning_rate);
  const auto decay = static_cast<float>(rule.weight_decay);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    parameters[i] -= rate * (gradients[i] + decay * parameters[i]);
  }
}

template<bool nesterov>
void sweep_sgd(const Sgd& rule, int64_t count, float* __restrict parameters,
               const float* __restrict gradients, float* __restrict velocity) {
  const auto rate = static_cast<float>(rule.learning_rate);
  const auto momentum = static_cast<float>(rule.momentum);
  const auto decay = static_cast<float>(rule.weight_decay);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + decay * parameters[i];
    const float speed = momentum * velocity[i] + gradient;
    velocity[i] = speed;
    parameters[i] -= rate * (nesterov ? gradient + momentum * speed : speed);
  }
}

void sweep_adam(const Adam& rule, int64_t step, int64_t count, float* __restrict parameters,
                const float* __restrict gradients, float* __restrict mean, float* __restrict square) {
  const double correction1 = 1 - std::pow(rule.beta1, static_cast<double>(step));
  const double correction2 = 1 - std::pow(rule.beta2, static_cast<double>(step));
  const auto rate = static_cast<float>(rule.learning_rate / correction1);
  const auto root_scale = static_cast<float>(1 / std::sqrt(correction2));
  const auto beta1 = static_cast<float>(rule.beta1), rest1 = static_cast<float>(1 - rule.beta1);
  const auto beta2 = static_cast<float>(rule.beta2), rest2 = static_cast<float>(1 - rule.beta2);
  const auto epsilon = static_cast<float>(rule.epsilon);
  const auto decay = static_cast<float>(rule.weight_decay);
#pragma omp parallel for simd schedule(static)
  for (int64_t i = 0; i < count; ++i) {
    const float gradient = gradients[i] + decay * parameters[i];
    mean[i] = beta1 * mean[i] + rest1 * gradient;
    square[i] = beta2 * square[i] + rest2 * gradient * gradient;
    parameters[i] -= rate * mean[i] / (std::sqrt(square[i]) * root_scale + epsilon);
  }
}

struct Sweep {
  int64_t step, count;
  float* parameters;
  const float* gradients;
  float* state;
  int64_t state_stride;

  void operator()(const Sgd& rule) const {
    if (rule.momentum == 0) return sweep_sgd_without_momentum(rule, count, parameters, gradients);
    const auto sweep = rule.nesterov ? sweep_sgd<true> : sweep_sgd<false>;
    sweep(rule, count, parameters, gradients, state);
  }
  void operator()(const Adam& rule) const {
    sweep_adam(rule, step, count, parameters, gradients, state, state + state_stride);
  }
};

struct StateSize {
  int operator()(const Sgd& rule) const { return rule.momentum == 0 ? 0 : 1; }
  int operator()(const Adam&) const { return 2; }
};

}  // namespace

Split update_split(int64_t parameters) { return evenly(parameters); }

int state_per_parameter(const UpdateRule& rule) { return std::visit(StateSize{}, rule); }

void apply_update(const UpdateRule& rule, int64_t step, std::span<float> parameters,
                  std::span<const float> gradients, float* state, int64_t state_stride) {
  assert(step >= 1);
  assert(gradients.size() == parameters.size());
  const auto count = static_cast<int64_t>(parameters.size());
  std::visit(Sweep{step, count, parameters.data(), gradients.data(), state, state_stride}, rule);
}

}  // namespace tacho
