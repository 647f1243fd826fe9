#pragma once

#include <cstdint>
#include <optional>

#include "base/carried.h"

namespace tacho {

// One pass over the training set, and what the network could do after it. What is not known is empty or zero.
struct Epoch {
  int64_t steps = 0;
  double seconds = 0;                       // of training
  std::optional<double> wait_seconds = {};  // of them, waiting for data
  std::optional<double> evaluation_seconds = {};
  std::optional<double> images_per_s = {};
  std::optional<double> loss = {};           // mean over the steps
  std::optional<double> learning_rate = {};  // of the last step
  std::optional<double> train_accuracy = {}, train_loss = {}, test_accuracy = {}, test_loss = {};
  // Of volumes, beside the test loss: what the best constant answer would lose; F1 of boundaries.
  std::optional<double> constant_loss = {}, boundary_f1 = {};
  Carried carried = {};

  // That of the test set, or of the training set where there is no other; 0 before the evaluation.
  double accuracy() const { return test_accuracy.value_or(train_accuracy.value_or(0)); }
};

// Sets images_per_s, where any time went by.
void add_rate(Epoch& epoch, int64_t images_per_step);

}  // namespace tacho
