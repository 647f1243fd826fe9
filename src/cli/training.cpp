#include "cli/training.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "cli/interrupt.h"
#include "cli/model_weights.h"
#include "cli/train_view.h"
#include "data/source.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "results/bench_record.h"
#include "results/environment.h"
#include "results/format.h"
#include "results/store.h"
#include "results/train_record.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

Weights first_weights(const Recipe& recipe) {
  const Graph graph = build_network(recipe);
  if (!recipe.weights) return initialize(graph, recipe.seed);
  return read_model_weights(*recipe.weights, find_model(recipe.model), graph);
}

bool has_failed(const Record& record) {
  return record.judgement.verdict == Verdict::failed || record.judgement.verdict == Verdict::out_of_memory;
}

// The data as it is, or a smaller set of its own.
const DataSet& cut_to_subset(const DataSet& data, const std::optional<int64_t>& subset, DataSet& smaller) {
  if (!subset || *subset == data.train.count()) return data;
  smaller.name = data.name;
  smaller.classes = data.classes;
  smaller.normalization = data.normalization;
  smaller.train = first_of(data.train, *subset);
  if (data.test.count() > 0) smaller.test = first_of(data.test, std::min(*subset, data.test.count()));
  return smaller;
}

Record run_training(const TrainingJob& job, const DataSet& whole, const SystemInfo& system) {
  const Recipe& recipe = job.recipe;
  DataSet smaller;
  const DataSet& data = cut_to_subset(whole, recipe.subset, smaller);
  const int64_t data_bytes = resident_memory_bytes();
  try {
    TrainResult result;
    {
      TrainView view(recipe, job.log, job.control.resume);
      TrainControl control = job.control;
      control.kernel_cache = default_kernel_cache();
      result = train(recipe, data, find_engine(recipe.engine), first_weights(recipe), control, view.hooks());
    }
    result.phase_bytes["data"] = data_bytes;
    if (job.save_weights && result.end != TrainEnd::diverged) {
      write_safetensors(*job.save_weights, result.weights);
    }
    return make_train_record(recipe, job.control, result, system);
  } catch (const OutOfMemory& error) {
    return make_failed_train_record(recipe, Verdict::out_of_memory, error.what(), system);
  }
}

// A store that fails must not cost what was learnt: it is given up, and said so.
void keep(const Record& record, std::optional<Store>& store) {
  if (!store) return;
  try {
    store->add(record);
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: this and further results are not kept: {}\n", error.what());
    store.reset();
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

void run_trainings(std::span<const TrainingJob> jobs, const DataSet& data, const std::string& suite,
                   const MeasureOptions& options, CommandContext& context,
                   const std::function<std::string(std::span<const Record>, Format)>& present) {
  const Format format = chosen_format(options.output);
  check_output(options.output);
  check_system_name(options.system);
  catch_interrupt();
  std::optional<Store> store;
  if (!options.without_store) store.emplace(store_path(options.store));
  const SystemInfo system = capture_system(options.system);
  const std::string run = unique_id();
  std::vector<Record> records;
  for (const TrainingJob& job : jobs) {
    if (interrupted()) break;
    Record record = run_training(job, data, system);
    if (record.epochs.empty() && !has_failed(record)) break;  // interrupted within the first epoch
    record.run = run;
    record.suite = suite;
    record.command = context.command;
    say_memory(record);
    keep(record, store);
    if (has_failed(record)) context.exit_status = 1;
    records.push_back(std::move(record));
  }
  if (!records.empty()) {
    write_output(options.output, present(records, format));
    if (store) {
      fmt::print(stderr, "tacho: note: kept in {} as run {} (`tacho results list`)\n",
                 store_path(options.store).string(), shown_id(run));
    }
  }
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
