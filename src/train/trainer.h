#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/loader.h"
#include "distributed/joint_passes.h"
#include "distributed/world.h"
#include "engine/engine.h"
#include "train/checkpoint.h"
#include "train/phase_memory.h"
#include "train/recipe.h"
#include "train/state.h"
#include "train/training_data.h"

namespace tacho {

// What a run does beside learning; none of it changes the weights.
struct TrainControl {
  int loader_threads = 1;
  std::filesystem::path kernel_cache = {};  // see CompileOptions
  std::optional<std::filesystem::path> checkpoints = {};
  int kept_checkpoints = 3;
  std::optional<int64_t> checkpoint_steps = {};  // also between epochs
  bool resume = false;
  std::optional<double> target_accuracy = {};  // on the test set: the run ends with the epoch that reaches it
  World* world = nullptr;  // whose first ranks are the recipe's devices; nothing: this process alone
};

struct StepReport {
  int64_t step, steps;         // finished; of the run
  double epoch;                // finished, with the part of the one under way
  double loss, learning_rate;  // of this step
  double milliseconds;         // of this step, with the wait
};

// How a trainer talks to its caller. Empty functions are not called.
struct TrainHooks {
  std::function<void(const StepReport&)> on_step = {};
  std::function<void(size_t number, const Epoch&)> on_epoch = {};
  std::function<void(int64_t step, int64_t steps)> on_resume = {};
  std::function<void(const std::string& what)> on_note = {};
  std::function<bool()> should_stop = {};
};

enum class TrainEnd { done, target_reached, interrupted, diverged };

// What a run gave.
struct TrainResult {
  TrainEnd end = TrainEnd::done;
  TrainState state = {};
  int64_t images = 0;                   // of an epoch
  int64_t steps = 0;                    // of the whole run
  JointPasses passes = {};              // the last steps
  std::vector<std::string> hosts = {};  // by rank
  bool has_cores = true;                // no core had to do the work of two threads
  double compile_ms = 0;
  std::string exchange = {};   // of gradients between devices: Group::way()
  int64_t steps_left_out = 0;  // of this call: updates whose gradients overflowed
  int64_t plan_bytes = 0, evaluation_plan_bytes = 0;
  std::map<std::string, int64_t> phase_bytes = {};
  Weights weights = {};
};

// Trains a network from the recipe's weights, or from the latest checkpoint of its folder, to the end. Throws
// UserError where recipe, data and checkpoint do not fit, or a checkpoint cannot be written. All ranks at
// once; those beyond the recipe's devices have no part in it. Rank 0's weights, checkpoints and result are
// the run's.
TrainResult train(const Recipe& recipe, const TrainingGraphs& graphs, const TrainingData& data,
                  Weights weights, const TrainControl& control, const TrainHooks& hooks);

}  // namespace tacho
