#include "cli/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "cli/model_weights.h"
#include "cli/train_view.h"
#include "data/source.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "results/train_record.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

Weights first_weights(const Recipe& recipe) {
  const Graph graph = build_network(recipe);
  if (!recipe.weights) return initialize(graph, recipe.seed);
  return read_model_weights(*recipe.weights, find_model(recipe.model), graph);
}

}  // namespace

DataSet open_training_data(Recipe& recipe) {
  SyntheticShape synthetic = {.classes = recipe.classes > 0 ? recipe.classes : 10,
                              .image = recipe.image.empty() ? Extents{32, 32} : recipe.image,
                              .seed = recipe.seed};
  if (recipe.subset) synthetic.images = *recipe.subset;
  DataSet data = open_data(recipe.data, synthetic);
  if (recipe.classes == 0) recipe.classes = data.classes;
  if (data.classes > recipe.classes) {
    throw UserError("--classes {}: {} has labels up to {}", recipe.classes, recipe.data, data.classes - 1);
  }
  if (!recipe.subset) return data;
  data.train = first_of(data.train, *recipe.subset);
  if (data.test.count() > 0) data.test = first_of(data.test, std::min(*recipe.subset, data.test.count()));
  return data;
}

Record run_training(const TrainingJob& job, const DataSet& data, const SystemInfo& system) {
  const Recipe& recipe = job.recipe;
  const int64_t data_bytes = resident_memory_bytes();
  try {
    TrainResult result;
    {
      TrainView view(recipe, job.log, job.control.resume);
      result =
          train(recipe, data, find_engine(recipe.engine), first_weights(recipe), job.control, view.hooks());
    }
    result.phase_bytes["data"] = data_bytes;
    if (job.save_weights && result.end != TrainEnd::diverged)
      write_safetensors(*job.save_weights, result.weights);
    return make_train_record(recipe, job.control, result, system);
  } catch (const OutOfMemory& error) {
    return make_failed_train_record(recipe, Verdict::out_of_memory, error.what(), system);
  }
}

void say_memory(const Record& record) {
  if (!record.plan_memory_mib || record.phase_memory_mib.empty()) return;
  std::string text;
  for (const auto& [phase, mib] : record.phase_memory_mib) {
    text += fmt::format("{}{} {:.0f} MiB", text.empty() ? "" : ", ", phase, mib);
  }
  fmt::print(stderr,
             "tacho: note: peak memory by phase: {}; the plans hold {:.0f} MiB for training, {:.0f} MiB for "
             "evaluation\n",
             text, *record.plan_memory_mib, record.evaluation_plan_memory_mib.value_or(0));
}

}  // namespace tacho
