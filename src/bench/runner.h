#pragma once

#include <functional>

#include "bench/case.h"
#include "bench/measurement.h"

namespace tacho {

// How a runner talks to its caller, always outside the timed passes. Empty functions are not called.
struct RunHooks {
  std::function<void(int pass, int passes)> progress = {};
  std::function<bool()> should_stop = {};
};

// Runs one cell: estimates its memory, compiles, warms up, times every pass. Whatever goes wrong becomes the
// measurement's status and reason; nothing is thrown.
Measurement run_case(const Case& cell, const RunHooks& hooks);

}  // namespace tacho
