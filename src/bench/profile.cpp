#include "bench/profile.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/memory.h"
#include "bench/prepared_case.h"
#include "engine/engines.h"
#include "graph/cost.h"

namespace tacho {
namespace {

constexpr const char *kForward = "forward", *kBackward = "backward";

// A layer and the steps that belong to it, which follow each other.
struct Layer {
  LayerTimes times;
  size_t first_step = 0, end_step = 0;
};

Layer layer_at(const StepList& list, size_t first_step) {
  const StepInfo& first = list.steps[first_step];
  const LayerInfo& info = list.layers[first.layer];
  Layer layer = {.times = {.name = info.name,
                           .op = info.op,
                           .phase = info.backward ? kBackward : kForward,
                           .kernel = first.kernel,
                           .flop = info.flop,
                           .bytes = first.bytes},
                 .first_step = first_step,
                 .end_step = first_step + 1};
  while (layer.end_step < list.steps.size() && list.steps[layer.end_step].layer == first.layer) {
    const StepInfo& step = list.steps[layer.end_step++];
    layer.times.kernel += fmt::format(" + {}", step.kernel);
    layer.times.bytes += step.bytes;
  }
  return layer;
}

// Those that take steps; others, such as a flattening, only see their input in another way.
std::vector<Layer> layers_of(const StepList& list) {
  std::vector<Layer> layers;
  for (size_t step = 0; step < list.steps.size(); step = layers.back().end_step) {
    layers.push_back(layer_at(list, step));
  }
  return layers;
}

// Parameters, gradients and state are read, parameters and state written.
int64_t update_bytes(const Workload& workload) {
  const int64_t floats = 3 + 2 * state_per_parameter(workload.update);
  return floats * parameter_count(workload.graph) * static_cast<int64_t>(sizeof(float));
}

LayerTimes update_layer(const Workload& workload) {
  return {.name = "optimizer",
          .op = "update",
          .phase = "update",
          .kernel = std::holds_alternative<Adam>(workload.update) ? "adam" : "sgd",
          .bytes = update_bytes(workload)};
}

SimulatedSplit simulated(const SplitFor& split, int threads, int measured_threads) {
  const Split wanted = split(threads);
  const double work = work_of(split(1));
  SimulatedSplit result = {.largest_share = longest_work(wanted, threads) / work,
                           .measured_share = longest_work(split(measured_threads), measured_threads) / work};
  for (const Loop& loop : wanted.loops) result.loops.push_back({loop.items, loop.rounds});
  return result;
}

// Without times.
Simulation simulate(const StepList& list, const Workload& workload, int threads, int measured_threads) {
  Simulation result = {.threads = threads};
  for (const StepInfo& step : list.steps) {
    const LayerInfo& layer = list.layers[step.layer];
    result.steps.push_back(
        {.layer = layer.name, .phase = layer.backward ? kBackward : kForward, .kernel = step.kernel});
    if (step.split) result.steps.back().split = simulated(step.split, threads, measured_threads);
  }
  if (!workload.graph.training) return result;
  const LayerTimes update = update_layer(workload);
  const Split sweep = update_split(parameter_count(workload.graph));
  result.steps.push_back({.layer = update.name,
                          .phase = update.phase,
                          .kernel = update.kernel,
                          .split = simulated([&](int) { return sweep; }, threads, measured_threads)});
  return result;
}

// Runs the passes that note their steps.
class Recorder {
 public:
  Recorder(PreparedCase& prepared, const StepList& list, std::optional<Simulation>& simulation)
      : prepared_(prepared),
        step_times_(list.steps.size()),
        layers_(layers_of(list)),
        simulation_(simulation) {
    if (prepared.workload().graph.training) update_ = update_layer(prepared.workload());
  }

  void run_pass() {
    prepared_.plan().record_times(step_times_);
    const PassTimes pass = prepared_.run_pass();
    prepared_.plan().record_times({});
    for (Layer& layer : layers_) add(layer, pass.begin_ms);
    if (simulation_) add_to_simulation(pass);
    if (!update_) return;
    update_->samples_ms.push_back(pass.end_ms - pass.exchange_end_ms);
    update_->begin_ms = pass.exchange_end_ms - pass.begin_ms;
    update_->end_ms = pass.end_ms - pass.begin_ms;
  }

  std::vector<LayerTimes> finish() {
    std::vector<LayerTimes> layers;
    for (Layer& layer : layers_) layers.push_back(std::move(layer.times));
    if (update_) layers.push_back(std::move(*update_));
    return layers;
  }

 private:
  void add(Layer& layer, double pass_begin_ms) {
    double busy_ms = 0;
    for (size_t i = layer.first_step; i < layer.end_step; ++i) {
      busy_ms += step_times_[i].end_ms - step_times_[i].begin_ms;
    }
    layer.times.samples_ms.push_back(busy_ms);
    layer.times.begin_ms = step_times_[layer.first_step].begin_ms - pass_begin_ms;
    layer.times.end_ms = step_times_[layer.end_step - 1].end_ms - pass_begin_ms;
  }

  void add_to_simulation(const PassTimes& pass) {
    std::vector<SimulatedStep>& steps = simulation_->steps;
    for (size_t i = 0; i < step_times_.size(); ++i)
      steps[i].samples_ms.push_back(step_times_[i].end_ms - step_times_[i].begin_ms);
    if (update_) steps.back().samples_ms.push_back(pass.end_ms - pass.exchange_end_ms);
  }

  PreparedCase& prepared_;
  std::vector<StepTime> step_times_;
  std::vector<Layer> layers_;
  std::optional<Simulation>& simulation_;
  std::optional<LayerTimes> update_;
};

// Announces a pass; false where it must not be run.
bool may_run(const RunControl& control, int pass, int passes) {
  if (control.should_stop && control.should_stop()) return false;
  if (control.progress) control.progress(pass, passes);
  return true;
}

}  // namespace

void check_profile(const Case& cell) {
  if (cell.execution.devices > 1 || cell.execution.parallel == kScatter)
    throw UserError("--devices: a profile looks at one device alone; leave it and --parallel out");
  if (find_engine(cell.execution.engine).tells_steps()) return;
  throw UserError("engine {} does not tell its steps; use {}", cell.execution.engine, default_engine());
}

std::optional<ProfileMeasurement> profile_case(const Case& cell, const Workload& workload,
                                               const RunControl& control,
                                               std::optional<int> threads_simulated) {
  require_memory(memory_need_bytes(cell, workload, true));
  const std::unique_ptr<Communicator> ranks = alone();
  const std::unique_ptr<Group> group = single_group();
  // Gradients are kept, so that the update is a phase of its own.
  PreparedCase prepared(cell, workload, first_weights(cell, workload.graph), control.kernel_cache, true,
                        *ranks, *group);
  const StepList list = prepared.plan().steps();
  std::optional<Simulation> simulation;
  if (threads_simulated) simulation = simulate(list, workload, *threads_simulated, cell.execution.threads);
  Recorder recorder(prepared, list, simulation);
  Measurement whole = prepared.measurement();
  std::vector<PassTimes> times;
  const int passes = cell.warmup + 2 * cell.repeat;
  for (int pass = 0; pass < passes; ++pass) {
    if (!may_run(control, pass, passes)) return std::nullopt;
    if (pass < cell.warmup) {
      prepared.run_pass();
    } else if ((pass - cell.warmup) % 2 == 0) {
      times.push_back(prepared.run_pass());
    } else {
      recorder.run_pass();
    }
  }
  prepared.require_finite();
  whole.passes = join_passes({&times, 1});
  return ProfileMeasurement{std::move(whole), recorder.finish(), std::move(simulation)};
}

}  // namespace tacho
