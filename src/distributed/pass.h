#pragma once

#include <optional>
#include <vector>

#include "distributed/group.h"
#include "engine/engine.h"

namespace tacho {

// When each phase of a pass ended. Phases that a pass does not have end when they begin.
struct PassTimes {
  double begin_ms = 0, scatter_end_ms = 0, forward_end_ms = 0, backward_end_ms = 0, exchange_end_ms = 0,
         update_end_ms = 0, end_ms = 0;
  ExchangeTimes exchange = {};

  double total_ms() const { return end_ms - begin_ms; }
};

// One pass of a plan on every device of the group: forward, and in training backward, the rest of the
// exchange that did not hide behind it, and the update; one device alone may update within the backward
// phase, which then ends before what all updates together took. `learning_rate` overrides the update rule's.
// Allocates nothing.
PassTimes run_pass(Plan& plan, Group& group, std::optional<double> learning_rate = {});

}  // namespace tacho
