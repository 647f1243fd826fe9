#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tacho {

// One pass over the training set, and what the network could do after it.
struct TrainedEpoch {
  int64_t steps = 0;
  double seconds = 0, wait_seconds = 0;  // of training; of it waiting for data
  double evaluation_seconds = 0;
  double loss = 0;           // mean over the steps
  double learning_rate = 0;  // of the last step
  std::optional<double> train_accuracy = {}, train_loss = {}, test_accuracy = {}, test_loss = {};
};

// How far a run is: everything that is no weight. `current` is the epoch under way, its loss still a sum.
struct TrainState {
  int64_t step = 0;
  std::vector<TrainedEpoch> epochs = {};
  TrainedEpoch current = {};
  std::optional<double> seconds_to_target = {};

  double seconds() const;
  double evaluation_seconds() const;
};

std::string to_json_text(const TrainState& state, const std::string& recipe);
// Throws UserError where the text is none of to_json_text(); `recipe` gets what was passed there.
TrainState state_from_json_text(const std::string& text, std::string& recipe);

}  // namespace tacho
