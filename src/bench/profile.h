#pragma once

#include <optional>
#include <vector>

#include "base/layer_times.h"
#include "base/simulation.h"
#include "bench/case.h"
#include "bench/measurement.h"
#include "bench/runner.h"

namespace tacho {

struct ProfileMeasurement {
  Measurement pass;                // whole passes that noted no steps
  std::vector<LayerTimes> layers;  // in order of execution; of the passes that did, in turns with the others
  std::optional<Simulation> simulation = {};
};

// Throws UserError for an engine that does not tell its steps.
void check_profile(const Case& cell);

// Runs a case's timed passes twice, in turns: as they are, and noting when each step begins and ends. Nothing
// where it was told to stop. Throws OutOfMemory where the case will not fit. `threads_simulated`: for how
// many threads the splits of the steps are asked for, if at all.
std::optional<ProfileMeasurement> profile_case(const Case& cell, const Workload& workload,
                                               const RunControl& control,
                                               std::optional<int> threads_simulated = {});

}  // namespace tacho
