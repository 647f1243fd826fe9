#include "engine/torch/module/loss_scale.h"

namespace tacho::torch_engine {

bool LossScale::accept(bool gradients_are_finite) {
  if (!gradients_are_finite) {
    reduce();
  } else if (++steps_ == kStepsToGrow) {
    value_ *= 2;
    steps_ = 0;
  }
  return gradients_are_finite;
}

bool LossScale::reduce() {
  steps_ = 0;
  if (value_ == 1) return false;
  value_ /= 2;
  return true;
}

}  // namespace tacho::torch_engine
