#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "data/data_set.h"
#include "results/record.h"
#include "train/trainer.h"

namespace tacho {

// One training run as it was asked for.
struct TrainingJob {
  Recipe recipe;
  TrainControl control = {};
  std::optional<std::filesystem::path> log = {}, save_weights = {};
};

// What the recipe names, cut to its subset.
DataSet open_training_data(Recipe& recipe);

// Trains, shows how it goes, saves the weights and returns the record. What does not fit into memory is a
// record too.
Record run_training(const TrainingJob& job, const DataSet& data, const SystemInfo& system);

// Memory by phase, for stderr.
void say_memory(const Record& record);

}  // namespace tacho
