#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/case.h"
#include "bench/sweep.h"
#include "cli/command_line.h"
#include "engine/engines.h"

namespace tacho {

// The axes of a sweep as they were typed; nothing where they were not.
struct SweepOptions {
  std::vector<std::string> models;
  std::string modes = "infer", engines{tacho::engines().front()->name()}, devices = "1";
  std::optional<std::string> batches, threads, images;
  Case shared;
};

// --memory normal|low.
void add_memory_option(Command command, bool& low_memory);

// --kernel NAME.
void add_kernel_option(Command command, std::string& kernel);

// How each cell is run: passes, classes, seed, weights.
void add_protocol_options(Command command, Case& shared);

// Throws UserError where an axis cannot be read.
Sweep to_sweep(const SweepOptions& options);

// The same case with what was measured about kernels kept for the user's next call.
Case remembering(Case cell);

// Throws UserError for the first cell that could never run; notes on stderr what of its weights is ignored.
void check_cells(std::span<const Case> cells);

}  // namespace tacho
