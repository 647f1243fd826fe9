#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "session/bench_items.h"
#include "train/trainer.h"

namespace tacho {

// One training run as it was asked for.
struct TrainingJob {
  Recipe recipe;
  TrainControl control = {};
  std::optional<std::filesystem::path> log = {}, save_weights = {};
};

// Trainings one after the other, all on the same data, which must outlive them. What does not fit into memory
// is a record too.
WorkItems train_items(std::vector<TrainingJob> jobs, const TrainingData& data);

}  // namespace tacho
