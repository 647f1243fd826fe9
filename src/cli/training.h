#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "cli/commands.h"
#include "cli/measure.h"
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

// What the recipe names, with its classes filled in where they are 0. The subset is taken by run_trainings().
DataSet open_training_data(Recipe& recipe);

// Throws UserError where the engine, the network and the data do not fit.
void check_recipe(const Recipe& recipe, const DataSet& data);

// Runs each, keeps its record in the store as it is finished, and prints them all, also after Ctrl-C. What
// does not fit into memory is a record too.
void run_trainings(std::span<const TrainingJob> jobs, const DataSet& data, const std::string& suite,
                   const MeasureOptions& options, CommandContext& context,
                   const std::function<std::string(std::span<const Record>, Format)>& present);

}  // namespace tacho
