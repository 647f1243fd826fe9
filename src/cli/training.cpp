#include "cli/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "capture/train_record.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/model_weights.h"
#include "cli/train_view.h"
#include "data/source.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

Weights first_weights(const Recipe& recipe) {
  const Graph graph = build_network(recipe);
  if (recipe.weights) return read_model_weights(*recipe.weights, find_model(recipe.model), graph);
  Weights weights = initialize(graph, recipe.seed);
  start_from_shortcuts(graph, weights);
  return weights;
}

// The data as it is, or a smaller set of its own.
const DataSet& cut_to_subset(const DataSet& data, const std::optional<int64_t>& subset, DataSet& smaller) {
  if (!subset || *subset >= std::max(data.train.count(), data.test.count())) return data;
  smaller.name = data.name;
  smaller.classes = data.classes;
  smaller.normalization = data.normalization;
  smaller.train = first_of(data.train, *subset);
  if (data.test.count() > 0) smaller.test = first_of(data.test, std::min(*subset, data.test.count()));
  return smaller;
}

// Gets the trained weights where the run came to any.
Record run_training(const TrainingJob& job, const DataSet& whole, const SystemInfo& system,
                    Weights& weights) {
  const Recipe& recipe = job.recipe;
  DataSet smaller;
  const DataSet& data = cut_to_subset(whole, recipe.subset, smaller);
  const int64_t data_bytes = peak_memory_bytes();
  try {
    TrainResult result;
    {
      TrainView view(recipe, job.log);
      TrainControl control = job.control;
      control.kernel_cache = default_kernel_cache();
      result = train(recipe, data, find_engine(recipe.engine), first_weights(recipe), control, view.hooks());
    }
    result.phase_bytes["data"] = data_bytes;
    if (result.end != TrainEnd::diverged) weights = std::move(result.weights);
    return make_train_record(recipe, job.control, result, system);
  } catch (const OutOfMemory& error) {
    return make_failed_train_record(recipe, Verdict::out_of_memory, error.what(), system);
  }
}

// Memory by phase, for stderr.
void say_memory(const Record& record) {
  if (!record.plan_memory_mib || record.phase_memory_mib.empty()) return;
  std::string text;
  for (const auto& [phase, mib] : record.phase_memory_mib) {
    text += fmt::format("{}{} {:.0f} MiB", text.empty() ? "" : ", ", phase, mib);
  }
  fmt::print(
      stderr,
      "tacho: note: {}: peak memory by phase: {}; the plans hold {:.0f} MiB for training, {:.0f} MiB for "
      "evaluation\n",
      record.model, text, *record.plan_memory_mib, record.evaluation_plan_memory_mib.value_or(0));
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
  if (recipe.subset && *recipe.subset > data.train.count()) {
    throw UserError("--subset {}: {} has {} training images", *recipe.subset, recipe.data,
                    data.train.count());
  }
  return data;
}

void check_recipe(const Recipe& recipe, const DataSet& data) {
  const Engine& engine = find_engine(recipe.engine);
  if (!engine.computes()) {
    throw UserError("engine {} computes nothing, so it cannot be trained: use native or reference",
                    recipe.engine);
  }
  check_choices(engine, recipe.kernel, recipe.low_memory);
  const Model& model = find_model(recipe.model);
  if (data.train.channels() != model.channels) {
    throw UserError("--data {}: images with {} channels, but {} takes {}", recipe.data, data.train.channels(),
                    model.name, model.channels);
  }
  const int64_t images = recipe.subset.value_or(data.train.count());
  if (recipe.batch > images) {
    throw UserError("--batch {}: there are only {} training images, and none is twice in a batch",
                    recipe.batch, images);
  }
  build_network(recipe);
}

void run_trainings(std::span<const TrainingJob> jobs, const DataSet& data, const std::string& suite,
                   const MeasureOptions& options, CommandContext& context,
                   const std::function<std::string(std::span<const Record>, Format)>& present) {
  const Format format = chosen_format(options.output);
  check_output(options.output);
  check_system_name(options.system);
  for (const TrainingJob& job : jobs) check_recipe(job.recipe, data);
  catch_interrupt();
  KeptRun kept(options, suite, context.command);
  kept.observe_machine();
  std::vector<Record> records;
  std::optional<UserError> not_saved;
  for (const TrainingJob& job : jobs) {
    if (interrupted()) break;
    Weights weights;
    Record record = run_training(job, data, kept.system(), weights);
    if (interrupted() && record.epochs.empty()) break;
    say_memory(record);
    kept.keep(record);
    records.push_back(std::move(record));
    if (!job.save_weights || weights.empty()) continue;
    try {
      write_safetensors(*job.save_weights, weights);
    } catch (const UserError& error) {
      not_saved = error;
    }
  }
  if (records.empty()) {
    fmt::print(stderr, "tacho: note: interrupted before the first epoch was finished\n");
  } else {
    write_output(options.output, present(records, format));
    kept.say_where();
    if (!suite.empty()) kept.write_page();
  }
  if (not_saved) throw *not_saved;
  if (something_failed(records)) context.exit_status = 1;
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
