#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json_values.h"

namespace tacho {

// One pass over the training set, and what the network could do after it.
struct TrainedEpoch {
  int64_t steps = 0;
  double seconds = 0, wait_seconds = 0;  // of training; of it waiting for data
  double evaluation_seconds = 0;
  double loss = 0;           // mean over the steps
  double learning_rate = 0;  // of the last step
  std::optional<double> train_accuracy = {}, train_loss = {}, test_accuracy = {}, test_loss = {};

  // That of the test set, or of the training set where there is no other; 0 before the evaluation.
  double accuracy() const { return test_accuracy.value_or(train_accuracy.value_or(0)); }
};

// How far a run is, and whose: everything that is no weight.
struct TrainState {
  Json recipe = {};          // identity_of(recipe)
  std::string kernels = {};  // what computes it: other kernels round otherwise
  int64_t step = 0;
  std::vector<TrainedEpoch> epochs = {};
  TrainedEpoch current = {};  // the epoch under way or not yet evaluated; its loss is still a sum
};

std::string to_json_text(const TrainState& state);
// Throws UserError where the text is none of to_json_text().
TrainState state_from_json_text(const std::string& text);

}  // namespace tacho
