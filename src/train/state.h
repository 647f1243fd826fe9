#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_values.h"
#include "results/epoch.h"

namespace tacho {

// How far a run is, and whose: everything that is no weight.
struct TrainState {
  Json recipe = {};          // identity_of(recipe)
  std::string kernels = {};  // what computes it: other kernels round otherwise
  int64_t step = 0;
  std::vector<Epoch> epochs = {};
  Epoch current = {};  // the epoch under way or not yet evaluated; its loss is still a sum
};

std::string to_json_text(const TrainState& state);
// Throws UserError where the text is none of to_json_text().
TrainState state_from_json_text(const std::string& text);

}  // namespace tacho
