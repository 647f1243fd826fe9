#pragma once

#include <optional>
#include <vector>

#include "distributed/group.h"
#include "engine/engine.h"

namespace tacho {

// When each phase of a pass ended. Inference ends with its forward phase.
struct PassTimes {
  double begin_ms = 0, forward_end_ms = 0, backward_end_ms = 0, exchange_end_ms = 0, end_ms = 0;

  double total_ms() const { return end_ms - begin_ms; }
};

// One pass of a plan on every device of the group: forward, and in training backward, the rest of the
// exchange that did not hide behind it, and the update. `learning_rate` overrides the update rule's.
// Allocates nothing.
PassTimes run_pass(Plan& plan, Group& group, std::optional<double> learning_rate = {});

// The phases of many passes of training, a sample a pass.
struct PhaseSamples {
  std::vector<double> forward_ms = {}, backward_ms = {}, exchange_ms = {}, update_ms = {};

  void reserve(size_t passes);
  void add(const PassTimes& times);
};

}  // namespace tacho
