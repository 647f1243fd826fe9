#include "train/trainer.h"

#include <fmt/ranges.h>

#include <cmath>
#include <deque>
#include <set>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "distributed/shared_state.h"
#include "distributed/together.h"
#include "engine/engines.h"
#include "engine/saturating.h"
#include "train/evaluator.h"

namespace tacho {
namespace {

// "batch 32, here 16; seed 1, here 2". What only one of them knows was added by a newer version, whose
// default is what the older one did.
std::string differences(const Json& theirs, const Json& ours, const std::set<std::string_view>& ignored) {
  std::vector<std::string> found;
  const auto text = [](const Json& value) {
    if (value.is_null()) return std::string("none");
    return value.is_string() ? value.get<std::string>() : to_text(value);
  };
  for (const auto& [name, value] : ours.items()) {
    if (!theirs.contains(name) || theirs[name] == value || ignored.contains(name)) continue;
    found.push_back(fmt::format("{} {}, here {}", name, text(theirs[name]), text(value)));
  }
  return fmt::format("{}", fmt::join(found, "; "));
}

int64_t devices_of(const Json& identity) { return identity.value("devices", int64_t{1}); }

int64_t global_batch(const Json& identity) {
  return identity.value("batch", int64_t{0}) * devices_of(identity);
}

std::string engine_of(const Json& identity) { return identity.value("engine", std::string()); }

// Another engine may go on with a run, and so may other devices, as long as each step still takes the same
// images.
void require_same_run(const Json& theirs, const Json& ours) {
  if (!theirs.is_object()) {
    throw UserError(
        "--resume: the checkpoint was written by an older tacho; finish it with that one, or start anew");
  }
  const bool other_devices = devices_of(theirs) != devices_of(ours);
  if (other_devices && global_batch(theirs) != global_batch(ours)) {
    throw UserError(
        "--resume: the checkpoint is of another run: batch {} over all {} devices, here {} over {}",
        global_batch(theirs), devices_of(theirs), global_batch(ours), devices_of(ours));
  }
  std::set<std::string_view> free = {"engine", "device"};
  if (engine_of(theirs) != engine_of(ours)) free.insert("kernel");
  if (other_devices) free.insert({"devices", "batch", "threads", "bucket_mib", "parallel"});
  const std::string found = differences(theirs, ours, free);
  if (!found.empty()) throw UserError("--resume: the checkpoint is of another run: {}", found);
}

// Every device drops other activations.
uint64_t dropout_seed(uint64_t seed, int rank) {
  return seed + 0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(rank);
}

class Trainer {
 public:
  Trainer(const Recipe& recipe, const TrainingGraphs& graphs, const TrainingData& data,
          const TrainControl& control, const TrainHooks& hooks, Communicator& ranks)
      : recipe_(recipe),
        ranks_(ranks),
        data_(data),
        engine_(find_engine(recipe.execution.engine)),
        control_(control),
        hooks_(hooks),
        graph_(graphs.training),
        network_(graphs.network),
        states_(state_per_parameter(recipe.update)) {
    state_.recipe = identity_of(recipe);
    result_.images = data.epoch_images(recipe);
    result_.steps = total_steps(recipe, result_.images);
    schedule_ = {
        .kind = recipe.schedule,
        .rate = learning_rate_of(recipe.update),
        .steps = result_.steps,
        .warmup_steps = std::llround(recipe.warmup_epochs * static_cast<double>(result_.images) / batch())};
  }

  TrainResult run(Weights weights) {
    std::optional<Checkpoint> checkpoint;
    together(ranks_, [&] { checkpoint = find_checkpoint(); });
    sit_down();
    memory_.enter("train");
    compile(std::move(weights));
    if (broadcast(ranks_, checkpoint.has_value() ? 1 : 0) != 0) resume(checkpoint);
    result_.end = train_steps();
    result_.state = state_;
    result_.phase_bytes = memory_.peaks();
    result_.steps_left_out = plan_->steps_left_out();
    const std::vector<PassTimes> passes(recent_passes_.begin(), recent_passes_.end());
    result_.passes =
        gather_passes(ranks_, passes, control_.world ? control_.world->clock_offset_ms(ranks_) : 0);
    result_.weights = read_weights(*plan_, graph_);
    return std::move(result_);
  }

 private:
  bool is_first() const { return ranks_.rank() == 0; }

  void sit_down() {
    const Execution& execution = recipe_.execution;
    if (control_.world == nullptr) return use_threads(execution.threads);
    const World& world = *control_.world;
    take_seat(world, execution.devices, execution.threads);
    result_.hosts.assign(world.hosts().begin(), world.hosts().begin() + execution.devices);
    result_.has_cores = world.has_cores_for(execution.devices, execution.threads);
  }

  int seat() const {
    return control_.world == nullptr ? 0 : control_.world->seat(recipe_.execution.devices).index;
  }

  CompileOptions options() const {
    CompileOptions options = compile_options(recipe_.execution, dropout_seed(recipe_.seed, ranks_.rank()),
                                             recipe_.update, kernel_cache(), seat());
    options.batch_norm_sums = batch_norm_sums_.get();
    options.gradients_on_device = group_->reaches_devices();
    return options;
  }

  const std::filesystem::path& kernel_cache() const {
    return shared_cache_ ? shared_cache_->path() : control_.kernel_cache;
  }

  void compile(Weights weights) {
    if (ranks_.size() > 1) {
      if (recipe_.execution.sync_batch_norm) batch_norm_sums_ = sum_over(ranks_);
      group_ = training_group(ranks_, recipe_.execution, device_of(recipe_.execution, seat()));
      result_.exchange = group_->way();
    }
    together(ranks_, [&] {
      const int64_t beside = control_.world ? control_.world->seat(recipe_.execution.devices).count : 1;
      require_memory(
          saturating_multiply(beside, saturating_add(engine_.estimate_memory_bytes(graph_, options()),
                                                     engine_.estimate_memory_bytes(network_, options()))));
      if (ranks_.size() == 1 || !is_first()) return;
      engine_.choose_kernels(graph_, options());
      engine_.choose_kernels(network_, options());
    });
    if (ranks_.size() > 1) together(ranks_, [&] { shared_cache_.emplace(ranks_, control_.kernel_cache); });
    broadcast_weights(ranks_, graph_, weights);
    const double begin = now_ms();
    together(ranks_, [&] { plan_ = engine_.compile(graph_, std::move(weights), options()); });
    result_.compile_ms = now_ms() - begin;
    require_equal_plans(ranks_, *plan_);
    result_.plan_bytes = plan_->memory_bytes();
    state_.kernels = kernels_of(*plan_);
  }

  double batch() const { return static_cast<double>(global_batch(recipe_)); }

  // Before anything that takes long: a folder of another run is refused at once.
  std::optional<Checkpoint> find_checkpoint() {
    if (!control_.checkpoints || !is_first()) return {};
    folder_.emplace(*control_.checkpoints, control_.kept_checkpoints);
    if (!control_.resume) {
      if (folder_->empty()) return {};
      throw UserError("--checkpoint {}: holds the checkpoints of a run; --resume continues it",
                      control_.checkpoints->string());
    }
    std::vector<std::string> unreadable;
    std::optional<Checkpoint> checkpoint = folder_->read_latest(unreadable);
    for (const std::string& what : unreadable) note(fmt::format("not used: {}", what));
    if (!checkpoint) {
      note("no checkpoint to resume: starting from the beginning");
    } else {
      require_same_run(checkpoint->state.recipe, state_.recipe);
    }
    return checkpoint;
  }

  // All ranks go on from rank 0's checkpoint, which it alone has.
  void resume(const std::optional<Checkpoint>& checkpoint) {
    const TrainState own = state_;
    together(ranks_, [&] {
      if (checkpoint) restore_checkpoint(*checkpoint, graph_, states_, *plan_);
    });
    if (checkpoint) state_ = checkpoint->state;
    broadcast_state(ranks_, graph_, states_, *plan_);
    state_ = state_from_json_text(broadcast(ranks_, to_json_text(state_)));
    const int64_t before = devices_of(state_.recipe), now = devices_of(own.recipe);
    if (engine_of(state_.recipe) != engine_of(own.recipe)) {
      note(fmt::format("engine {} computed it before, now {}: it will not end in the same bits",
                       engine_of(state_.recipe), engine_of(own.recipe)));
    } else if (before != now) {
      note(fmt::format("it ran on {} devices before, now on {}: it will not end in the same bits", before,
                       now));
    } else if (own.kernels != state_.kernels) {
      note(
          "other kernels compute this run than before, which round otherwise: it will not end in the same "
          "bits; were they measured anew?");
    }
    state_.recipe = own.recipe;
    state_.kernels = own.kernels;
    if (hooks_.on_resume) hooks_.on_resume(state_.step, result_.steps);
  }

  TrainEnd train_steps() {
    // A run that was killed while it evaluated an epoch does that first.
    if (has_whole_epoch()) {
      if (const auto end = finish_epoch()) return *end;
    }
    if (reached_target()) return TrainEnd::target_reached;
    if (state_.step >= result_.steps) return TrainEnd::done;
    Loader loader(data_.batches(recipe_, share()),
                  {.threads = control_.loader_threads, .first_batch = state_.step});
    while (state_.step < result_.steps) {
      if (should_stop()) {
        save();
        return TrainEnd::interrupted;
      }
      if (!train_step(loader)) return TrainEnd::diverged;
      if (has_whole_epoch()) {
        save();
        if (const auto end = finish_epoch()) return *end;
      } else if (control_.checkpoint_steps && state_.step % *control_.checkpoint_steps == 0) {
        save();
      }
    }
    return TrainEnd::done;
  }

  // What one rank is told, all do.
  bool should_stop() const { return any(ranks_, hooks_.should_stop && hooks_.should_stop()); }

  BatchShare share() const { return {.batch = recipe_.batch, .rank = ranks_.rank(), .ranks = ranks_.size()}; }

  // False where the loss is no number any more.
  bool train_step(Loader& loader) {
    const double begin = now_ms(), waited = loader.wait_ms();
    const Batch& batch = loader.next();
    const double rate = learning_rate(schedule_, state_.step);
    plan_->write(graph_.inputs[0], batch.images);
    plan_->write(graph_.inputs[1], batch.targets);
    remember(run_pass(*plan_, *group_, rate));
    const double loss = mean(plan_->read(graph_.outputs[1]).values<float>()[0]);
    if (state_.step % kStepsBetweenSamples == 0) memory_.sample();

    Epoch& epoch = state_.current;
    ++state_.step;
    ++epoch.steps;
    epoch.loss = epoch.loss.value_or(0) + loss;
    epoch.learning_rate = rate;
    epoch.seconds += (now_ms() - begin) / 1e3;
    epoch.wait_seconds = epoch.wait_seconds.value_or(0) + (loader.wait_ms() - waited) / 1e3;
    if (hooks_.on_step) {
      hooks_.on_step({state_.step, result_.steps, epochs_done(), loss, rate, now_ms() - begin});
    }
    return std::isfinite(loss);
  }

  // Over the devices, whose batches are of one size.
  double mean(double own) const {
    double sum = 0;
    for (const double part : all_gather(ranks_, std::span(&own, 1))) sum += part;
    return sum / ranks_.size();
  }

  double epochs_done() const {
    return static_cast<double>(state_.step) * batch() / static_cast<double>(result_.images);
  }

  // Whether the last step took the last image of an epoch, or is the run's last, and nothing was evaluated
  // since. A batch may go on with the next epoch's images.
  bool has_whole_epoch() const {
    if (state_.current.steps == 0) return false;
    const auto epochs_at = [&](int64_t step) { return step * global_batch(recipe_) / result_.images; };
    return state_.step == result_.steps || epochs_at(state_.step) > epochs_at(state_.step - 1);
  }

  // How the run ends with this epoch; nothing where it goes on.
  std::optional<TrainEnd> finish_epoch() {
    Epoch epoch = state_.current;
    epoch.loss = epoch.loss.value_or(0) / static_cast<double>(epoch.steps);
    add_rate(epoch, global_batch(recipe_));
    memory_.enter("evaluate");
    const bool evaluated = evaluate(epoch);
    memory_.enter("train");
    if (!evaluated) return TrainEnd::interrupted;
    if (!std::isfinite(epoch.train_loss.value_or(0)) || !std::isfinite(epoch.test_loss.value_or(0)))
      return TrainEnd::diverged;
    state_.current = {};
    state_.epochs.push_back(epoch);
    if (hooks_.on_epoch) hooks_.on_epoch(state_.epochs.size(), epoch);
    save();
    return reached_target() ? std::optional(TrainEnd::target_reached) : std::nullopt;
  }

  // False where it was stopped.
  bool evaluate(Epoch& epoch) {
    const double begin = now_ms();
    require_equal_parameters(ranks_, *plan_, graph_);
    Weights weights = read_weights(*plan_, graph_);
    broadcast_weights(ranks_, graph_, weights);  // with the running statistics of rank 0
    std::unique_ptr<Plan> plan;
    together(ranks_, [&] {
      plan = engine_.compile(
          network_, std::move(weights),
          compile_options(recipe_.execution, recipe_.seed, recipe_.update, kernel_cache(), seat()));
    });
    result_.evaluation_plan_bytes = plan->memory_bytes();
    Evaluator evaluator(network_, std::move(plan), ranks_,
                        {.loader_threads = control_.loader_threads, .should_stop = hooks_.should_stop});
    if (!data_.evaluate(recipe_, evaluator, epoch)) return false;
    epoch.evaluation_seconds = (now_ms() - begin) / 1e3;
    return true;
  }

  bool reached_target() const {
    return control_.target_accuracy && !state_.epochs.empty() &&
           state_.epochs.back().accuracy() >= *control_.target_accuracy;
  }

  void save() {
    if (!control_.checkpoints) return;
    together(ranks_, [&] {
      if (!folder_) return;
      memory_.enter("checkpoint");
      Checkpoint checkpoint = take_checkpoint(*plan_, graph_, states_);
      checkpoint.state = state_;
      folder_->write(std::move(checkpoint));
      memory_.enter("train");
    });
  }

  void note(const std::string& what) const {
    if (hooks_.on_note) hooks_.on_note(what);
  }

  // Of the last steps only, however many there are.
  void remember(const PassTimes& times) {
    if (recent_passes_.size() == kKeptPasses) recent_passes_.pop_front();
    recent_passes_.push_back(times);
  }

  static constexpr int64_t kStepsBetweenSamples = 50;
  static constexpr size_t kKeptPasses = 1000;

  const Recipe& recipe_;
  Communicator& ranks_;
  const TrainingData& data_;
  const Engine& engine_;
  const TrainControl& control_;
  const TrainHooks& hooks_;
  const Graph &graph_, &network_;
  int states_;
  Schedule schedule_;
  std::optional<CheckpointFolder> folder_;
  PhaseMemory memory_;
  std::unique_ptr<Group> group_ = single_group();
  std::unique_ptr<SumOverDevices> batch_norm_sums_;
  std::optional<SharedFile> shared_cache_;
  std::unique_ptr<Plan> plan_;
  std::deque<PassTimes> recent_passes_;
  TrainState state_;
  TrainResult result_;
};

}  // namespace

TrainResult train(const Recipe& recipe, const TrainingGraphs& graphs, const TrainingData& data,
                  Weights weights, const TrainControl& control, const TrainHooks& hooks) {
  const std::unique_ptr<Communicator> ranks =
      control.world != nullptr ? control.world->all().first(recipe.execution.devices) : alone();
  if (!ranks) return {};
  TrainResult result;
  in_step(*ranks,
          [&] { result = Trainer(recipe, graphs, data, control, hooks, *ranks).run(std::move(weights)); });
  return result;
}

}  // namespace tacho
