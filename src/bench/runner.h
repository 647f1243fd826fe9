#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

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

// The same for cells that take turns, pass by pass, so that whatever disturbs the machine disturbs them
// alike. All plans are in memory at once, so none has a peak memory of its own.
std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunHooks& hooks);

}  // namespace tacho
