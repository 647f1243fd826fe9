#pragma once

namespace tacho::torch_engine {

// In half precision small gradients vanish. So the loss is multiplied by this before a backward pass, and
// gradients are divided by it after; a step whose gradients overflow is left out.
class LossScale {
 public:
  double value() const { return value_; }

  // Whether the step may be taken, by its gradients. Halves the scale, down to 1, where they overflow, and
  // doubles it after kStepsToGrow that did not.
  bool accept(bool gradients_are_finite);

  // Halves it; false where it is 1.
  bool reduce();

  static constexpr int kStepsToGrow = 2000;

 private:
  double value_ = 1024;
  int steps_ = 0;  // since it changed
};

}  // namespace tacho::torch_engine
