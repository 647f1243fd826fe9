#pragma once

#include <cstdint>
#include <span>
#include <variant>

#include "kernels/split.h"

namespace tacho {

// As torch.optim.SGD: v = momentum * v + g + weight_decay * p; p -= lr * v (Nesterov: lr * (g + momentum *
// v)).
struct Sgd {
  double learning_rate = 0.1;
  double momentum = 0.9;
  double weight_decay = 1e-4;
  bool nesterov = false;
};

// As torch.optim.Adam, with L2 weight decay added to the gradient.
struct Adam {
  double learning_rate = 1e-3;
  double beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;
};

// As the published 3D U-Nets are trained, one window in a batch.
inline constexpr Adam kVolumeAdam = {.learning_rate = 1e-4, .weight_decay = 5e-4};

using UpdateRule = std::variant<Sgd, Adam>;

// How many floats of state each parameter needs.
int state_per_parameter(const UpdateRule& rule);

// One fused sweep: updates parameters and state in place. `step` counts from 1.
// `state` is the first of state_per_parameter(rule) arrays of the parameters' length, zero before step 1,
// which lie `state_stride` floats apart.
void apply_update(const UpdateRule& rule, int64_t step, std::span<float> parameters,
                  std::span<const float> gradients, float* state, int64_t state_stride);
// Of so many parameters.
Split update_split(int64_t parameters);

// The same in plain double arithmetic, for tests: the arrays of `state` lie side by side.
void apply_update_reference(const UpdateRule& rule, int64_t step, std::span<float> parameters,
                            std::span<const float> gradients, std::span<float> state);

}  // namespace tacho
