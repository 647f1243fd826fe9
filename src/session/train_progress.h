#pragma once

#include <optional>
#include <string>

#include "train/trainer.h"

namespace tacho {

// How a training under way looks to people.
class TrainProgress {
 public:
  explicit TrainProgress(const Recipe& recipe);

  // "epoch 1.20/5 [====      ] step 24/100, loss 1.234, accuracy 45.0 %, 476 images/s". Of a volume:
  // "[====      ] step 24/100, loss -2.134, held out -2.051, 31.2 iterations/min".
  std::string line_of(const StepReport& step);
  std::string line_of(size_t number, const Epoch& epoch);

  static double share_of(const StepReport& step) {
    return static_cast<double>(step.step) / static_cast<double>(step.steps);
  }

 private:
  std::string speed(double steps, double seconds) const;
  std::string score_of(const Epoch& epoch) const;

  bool volume_;
  double batch_;
  std::string epochs_;  // of the run, where it is known
  int64_t steps_ = 0;   // seen
  double steps_ms_ = 0, mean_loss_ = 0;
  std::string last_score_;  // ", accuracy 45.0 %"
};

}  // namespace tacho
