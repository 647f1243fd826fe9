#include "session/train_item.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory.h"
#include "capture/train_record.h"
#include "distributed/together.h"
#include "graph/cost.h"
#include "session/train_log.h"
#include "session/train_progress.h"
#include "tensors/safetensors.h"
#include "train/training.h"

namespace tacho {
namespace {

std::string memory_note(const Record& record) {
  std::string text;
  for (const auto& [phase, mib] : record.phase_memory_mib) {
    text += fmt::format("{}{} {:.0f} MiB", text.empty() ? "" : ", ", phase, mib);
  }
  return fmt::format(
      "{}: peak memory by phase: {}; the plans hold {:.0f} MiB for training, {:.0f} MiB for evaluation",
      record.model, text, record.plan_memory_mib.value_or(0), record.evaluation_plan_memory_mib.value_or(0));
}

class TrainItem final : public WorkItem {
 public:
  TrainItem(TrainingJob job, const TrainingData& data) : job_(std::move(job)), data_(data) {}

  void check(const std::function<void(const std::string&)>&) override {
    graphs_ = check_recipe(job_.recipe, data_);
  }

  double work() const override {
    return static_cast<double>(total_steps(job_.recipe, data_.epoch_images(job_.recipe))) *
           static_cast<double>(cost_of(graphs_.training).flop);
  }

  bool is_long() const override { return true; }
  std::vector<Execution> executions() const override { return {job_.recipe.execution}; }

  void run(const ItemContext& context, const std::function<void(Record)>& finish) override {
    Weights weights;
    Record record = train_on(context, weights);
    if (!context.world.is_first() || (context.should_stop() && record.epochs.empty())) return;
    if (record.plan_memory_mib && !record.phase_memory_mib.empty()) context.note(memory_note(record));
    finish(std::move(record));
    if (job_.save_weights && !weights.empty()) write_safetensors(*job_.save_weights, weights);
  }

 private:
  // Gives the trained weights where the run came to any.
  Record train_on(const ItemContext& context, Weights& trained) {
    const int64_t data_bytes = peak_memory_bytes();
    if (const std::string note = data_.note(); !note.empty()) context.note(note);
    try {
      ModelWeights first;
      together(context.world.all(), [&] {
        if (context.world.is_first()) first = first_weights(job_.recipe, graphs_.network);
      });
      if (!first.note.empty()) context.note(first.note);
      TrainControl control = job_.control;
      control.kernel_cache = context.kernel_cache;
      control.world = &context.world;
      TrainProgress progress(job_.recipe);
      TrainLog log(context.world.is_first() ? job_.log : std::nullopt);
      TrainResult result = train(job_.recipe, graphs_, data_, std::move(first.weights), control,
                                 hooks(context, progress, log));
      result.phase_bytes["data"] = data_bytes;
      if (result.end != TrainEnd::diverged) trained = std::move(result.weights);
      return make_train_record(job_.recipe, job_.control, result, context.system);
    } catch (const OutOfMemory& error) {
      return make_failed_train_record(job_.recipe, Verdict::out_of_memory, error.what(), context.system);
    }
  }

  static TrainHooks hooks(const ItemContext& context, TrainProgress& progress, TrainLog& log) {
    return {.on_step =
                [&](const StepReport& step) {
                  log.add(step);
                  context.progress(progress.line_of(step), TrainProgress::share_of(step));
                },
            .on_epoch =
                [&](size_t number, const Epoch& epoch) {
                  context.say(progress.line_of(number, epoch));
                  log.add(number, epoch);
                },
            .on_resume =
                [&](int64_t step, int64_t steps) {
                  context.note(fmt::format("resumed at step {} of {}", step, steps));
                  log.add_resume(step);
                },
            .on_note = context.note,
            .should_stop = context.should_stop};
  }

  TrainingJob job_;
  const TrainingData& data_;
  TrainingGraphs graphs_;
};

}  // namespace

WorkItems train_items(std::vector<TrainingJob> jobs, const TrainingData& data) {
  WorkItems items;
  for (TrainingJob& job : jobs) items.push_back(std::make_unique<TrainItem>(std::move(job), data));
  return items;
}

}  // namespace tacho
