#pragma once

#include <optional>
#include <vector>

#include "base/layer_times.h"
#include "base/machine_speed.h"
#include "base/simulation.h"
#include "results/record.h"

namespace tacho {

// Where the time of a pass goes.
struct Profile {
  Record pass;                     // of whole passes that noted no layers
  MachineSpeed speed;              // on as many threads
  std::vector<LayerTimes> layers;  // in order of execution, each with at least one sample
  std::optional<Simulation> simulation = {};
};

}  // namespace tacho
