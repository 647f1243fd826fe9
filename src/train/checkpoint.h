#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "train/state.h"

namespace tacho {

// A training run between two steps: what a plan remembers, and how far the run is.
struct Checkpoint {
  Weights tensors;  // weights by their names; the optimizer's arrays as "optimizer.0/NAME"
  PlanCounters counters;
  TrainState state;
};

// Those of a plan, by their names.
Weights read_weights(const Plan& plan, const Graph& graph);

Checkpoint take_checkpoint(const Plan& plan, const Graph& graph, int states_per_parameter);
void restore_checkpoint(const Checkpoint& checkpoint, const Graph& graph, int states_per_parameter,
                        Plan& plan);

// A folder of checkpoints, one safetensors file each. A file is there as a whole or not at all.
class CheckpointFolder {
 public:
  // Makes the folder where it is missing, and removes what a killed run left half written.
  CheckpointFolder(std::filesystem::path folder, int kept);

  // Throws UserError where the system refuses; the earlier ones are still there then. Later ones, which
  // could not be read, are gone.
  void write(Checkpoint checkpoint);

  // The latest that can be read; nothing where there is none. `unreadable` gets the errors of later ones.
  std::optional<Checkpoint> read_latest(std::vector<std::string>& unreadable) const;

  bool empty() const { return files().empty(); }

 private:
  std::vector<std::filesystem::path> files() const;  // oldest first

  std::filesystem::path folder_;
  int kept_;
};

}  // namespace tacho
