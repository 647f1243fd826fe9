#include "train/trainer.h"

#include <fmt/format.h>

#include <cmath>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "train/evaluate.h"

namespace tacho {
namespace {

class Trainer {
 public:
  Trainer(const Recipe& recipe, const DataSet& data, const Engine& engine, const TrainControl& control,
          const TrainHooks& hooks)
      : recipe_(recipe),
        data_(data),
        engine_(engine),
        control_(control),
        hooks_(hooks),
        graph_(build_training(recipe)),
        states_(state_per_parameter(recipe.update)),
        batch_(recipe.batch) {
    result_.images = data.train.count();
    result_.steps = total_steps(recipe, result_.images);
    schedule_ = {.kind = recipe.schedule,
                 .rate = learning_rate_of(recipe.update),
                 .steps = result_.steps,
                 .warmup_steps = std::llround(recipe.warmup_epochs * static_cast<double>(result_.images) /
                                              static_cast<double>(batch_))};
    if (control.checkpoints) folder_.emplace(*control.checkpoints, control.kept_checkpoints);
  }

  TrainResult run(Weights weights) {
    use_threads(recipe_.threads);
    memory_.enter("train");
    const CompileOptions options = compile_options(recipe_, control_.kernel_cache);
    require_memory(engine_.estimate_memory_bytes(graph_, options));
    const double begin = now_ms();
    plan_ = engine_.compile(graph_, std::move(weights), options);
    result_.compile_ms = now_ms() - begin;
    result_.plan_bytes = plan_->memory_bytes();
    if (folder_) resume();
    result_.end = train_steps();
    result_.state = state_;
    result_.phase_bytes = memory_.peaks();
    result_.weights = weights_of_plan();
    return std::move(result_);
  }

 private:
  void resume() {
    if (!control_.resume) {
      if (folder_->empty()) return;
      throw UserError("--checkpoint {}: holds the checkpoints of a run; --resume continues it",
                      control_.checkpoints->string());
    }
    std::vector<std::string> unreadable;
    const auto checkpoint = folder_->read_latest(unreadable);
    for (const std::string& what : unreadable) note(fmt::format("not used: {}", what));
    if (!checkpoint) return note("no checkpoint to resume: starting from the beginning");
    if (checkpoint->recipe != describe(recipe_)) {
      throw UserError("--resume: the checkpoint is of another run ({}), not of this one ({})",
                      checkpoint->recipe, describe(recipe_));
    }
    restore_checkpoint(*checkpoint, graph_, states_, *plan_);
    state_ = checkpoint->state;
    note(fmt::format("resumed at step {} of {}", state_.step, result_.steps));
  }

  TrainEnd train_steps() {
    if (reached_target()) return TrainEnd::target_reached;
    if (state_.step >= result_.steps) return TrainEnd::done;
    Loader loader(data_.train, data_.normalization, loader_options());
    while (state_.step < result_.steps) {
      if (hooks_.should_stop && hooks_.should_stop()) {
        save();
        return TrainEnd::interrupted;
      }
      if (!train_step(loader)) return TrainEnd::diverged;
      const bool last = state_.step == result_.steps;
      if (last || ends_epoch()) {
        finish_epoch();
        save();
        if (reached_target()) return TrainEnd::target_reached;
      } else if (control_.checkpoint_steps && state_.step % *control_.checkpoint_steps == 0) {
        save();
      }
    }
    return TrainEnd::done;
  }

  LoaderOptions loader_options() const {
    return {.batch = batch_,
            .image = recipe_.image,
            .augmentation = parse_augmentation(recipe_.augmentation),
            .shuffle_seed = recipe_.shuffle ? std::optional(recipe_.seed) : std::nullopt,
            .augmentation_seed = recipe_.seed,
            .threads = control_.loader_threads,
            .first_batch = state_.step};
  }

  // False where the loss is no number any more.
  bool train_step(Loader& loader) {
    const double begin = now_ms(), waited = loader.wait_ms();
    const Batch& batch = loader.next();
    const double rate = learning_rate(schedule_, state_.step);
    plan_->write(graph_.inputs[0], batch.images);
    plan_->write(graph_.inputs[1], batch.labels);
    const double forward = now_ms();
    plan_->forward();
    const double backward = now_ms();
    plan_->backward();
    const double update = now_ms();
    plan_->update(rate);
    const double end = now_ms();
    const double loss = plan_->read(graph_.outputs[1]).values<float>()[0];
    result_.forward_ms.push_back(backward - forward);
    result_.backward_ms.push_back(update - backward);
    result_.update_ms.push_back(end - update);
    if (state_.step % kStepsBetweenSamples == 0) memory_.sample();

    TrainedEpoch& epoch = state_.current;
    ++state_.step;
    ++epoch.steps;
    epoch.loss += loss;
    epoch.learning_rate = rate;
    epoch.seconds += (now_ms() - begin) / 1e3;
    epoch.wait_seconds += (loader.wait_ms() - waited) / 1e3;
    if (hooks_.on_step) {
      hooks_.on_step({state_.step, result_.steps, epochs_done(), loss, rate, now_ms() - begin});
    }
    return std::isfinite(loss);
  }

  double epochs_done() const {
    return static_cast<double>(state_.step * batch_) / static_cast<double>(result_.images);
  }

  // Whether this step took the last image of an epoch; a batch may go on with the next one's.
  bool ends_epoch() const {
    const auto epochs_at = [&](int64_t step) { return step * batch_ / result_.images; };
    return epochs_at(state_.step) > epochs_at(state_.step - 1);
  }

  void finish_epoch() {
    TrainedEpoch epoch = std::exchange(state_.current, {});
    epoch.loss /= static_cast<double>(epoch.steps);
    evaluate(epoch);
    state_.epochs.push_back(epoch);
    if (reached_target() && !state_.seconds_to_target) {
      state_.seconds_to_target = state_.seconds() + state_.evaluation_seconds();
    }
    if (hooks_.on_epoch) hooks_.on_epoch(state_.epochs.size(), epoch);
  }

  void evaluate(TrainedEpoch& epoch) {
    const double begin = now_ms();
    memory_.enter("evaluate");
    {
      Evaluator evaluator(recipe_, engine_, weights_of_plan(), control_.kernel_cache);
      result_.evaluation_plan_bytes = evaluator.memory_bytes();
      const Evaluation train = evaluator.run(data_.train, data_.normalization, control_.loader_threads);
      epoch.train_accuracy = train.accuracy;
      epoch.train_loss = train.loss;
      if (data_.test.count() > 0) {
        const Evaluation test = evaluator.run(data_.test, data_.normalization, control_.loader_threads);
        epoch.test_accuracy = test.accuracy;
        epoch.test_loss = test.loss;
      }
    }
    memory_.enter("train");
    epoch.evaluation_seconds = (now_ms() - begin) / 1e3;
  }

  bool reached_target() const {
    if (!control_.target_accuracy || state_.epochs.empty()) return false;
    const TrainedEpoch& last = state_.epochs.back();
    return last.test_accuracy.value_or(last.train_accuracy.value_or(0)) >= *control_.target_accuracy;
  }

  void save() {
    if (!folder_) return;
    memory_.enter("checkpoint");
    Checkpoint checkpoint = take_checkpoint(*plan_, graph_, states_);
    checkpoint.state = state_;
    checkpoint.recipe = describe(recipe_);
    folder_->write(std::move(checkpoint));
    memory_.enter("train");
  }

  Weights weights_of_plan() const {
    Weights weights;
    for (const ValueId id : graph_.weights()) weights[graph_.value(id).name] = plan_->read(id);
    return weights;
  }

  void note(const std::string& what) const {
    if (hooks_.on_note) hooks_.on_note(what);
  }

  static constexpr int64_t kStepsBetweenSamples = 50;

  const Recipe& recipe_;
  const DataSet& data_;
  const Engine& engine_;
  const TrainControl& control_;
  const TrainHooks& hooks_;
  Graph graph_;
  int states_;
  int64_t batch_;
  Schedule schedule_;
  std::optional<CheckpointFolder> folder_;
  PhaseMemory memory_;
  std::unique_ptr<Plan> plan_;
  TrainState state_;
  TrainResult result_;
};

}  // namespace

TrainResult train(const Recipe& recipe, const DataSet& data, const Engine& engine, Weights weights,
                  const TrainControl& control, const TrainHooks& hooks) {
  return Trainer(recipe, data, engine, control, hooks).run(std::move(weights));
}

}  // namespace tacho
