#include "engine/torch/module/loss_scale.h"

#include <algorithm>

namespace tacho::torch_engine {

bool LossScale::accept(bool gradients_are_finite) {
  if (!gradients_are_finite) {
    value_ = std::max(1.0, value_ / 2);
    steps_ = 0;
  } else if (++steps_ == kStepsToGrow) {
    value_ *= 2;
    steps_ = 0;
  }
  return gradients_are_finite;
}

}  // namespace tacho::torch_engine
