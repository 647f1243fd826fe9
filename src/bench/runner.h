#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "bench/case.h"
#include "bench/measurement.h"
#include "bench/workload.h"
#include "distributed/world.h"

namespace tacho {

// What a run does beside measuring. Functions are called outside the timed passes; empty ones are not called.
struct RunControl {
  std::filesystem::path kernel_cache = {};  // see CompileOptions
  std::function<void(int pass, int passes)> progress = {};
  std::function<bool()> should_stop = {};
  World* world =
      nullptr;  // whose ranks are the devices, all of which make the call; nothing: this process alone
};

struct CheckedCase {
  Workload workload;
  double work = 0;  // FLOP of all passes, 0 where it cannot fit: how long cells take relative to each other
};

// Throws UserError for a case that can never run as it is written, such as an image too small for the
// network.
CheckedCase check_case(const Case& cell);

// Runs one cell: estimates its memory, compiles, warms up, times every pass. Whatever goes wrong becomes the
// measurement's status and reason; nothing is thrown but what goes wrong in the middle of a pass of several
// devices. The cell's workload is built where it is not given. Ranks beyond the cell's devices have no part
// in its measurement.
Measurement run_case(const Case& cell, const RunControl& control, std::optional<Workload> workload = {});

// The same for cells that take turns, pass by pass, so that whatever disturbs the machine disturbs them
// alike. All plans are in memory at once, so none has a peak memory of its own.
std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunControl& control);

}  // namespace tacho
