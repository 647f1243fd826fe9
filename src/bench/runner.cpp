#include "bench/runner.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <new>
#include <optional>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "bench/synthetic.h"
#include "bench/workload.h"
#include "engine/engines.h"
#include "graph/cost.h"
#include "models/initialize.h"
#include "tensors/safetensors.h"

namespace tacho {
namespace {

Weights make_weights(const Case& cell, const Graph& graph) {
  if (!cell.weights) return initialize(graph, cell.seed);
  Weights weights = read_safetensors(*cell.weights);
  check_weights(graph, weights, cell.weights->string());
  return weights;
}

CompileOptions compile_options(const Case& cell, const Workload& workload, const RunHooks& hooks) {
  return {.threads = cell.threads,
          .seed = cell.seed,
          .update = workload.update,
          .kernel = cell.kernel,
          .kernel_cache = hooks.kernel_cache};
}

std::unique_ptr<Plan> compile(const Case& cell, const Engine& engine, const Workload& workload,
                              const RunHooks& hooks, Measurement& result) {
  Weights weights = make_weights(cell, workload.graph);
  const double begin = now_ms();
  auto plan = engine.compile(workload.graph, std::move(weights), compile_options(cell, workload, hooks));
  result.compile_ms = now_ms() - begin;
  result.plan_memory_bytes = plan->memory_bytes();
  return plan;
}

void infer_pass(Plan& plan, Measurement& result) {
  const double begin = now_ms();
  plan.forward();
  const double end = now_ms();
  result.samples_ms.push_back(end - begin);
}

void train_pass(Plan& plan, Measurement& result) {
  const double begin = now_ms();
  plan.forward();
  const double forward_end = now_ms();
  plan.backward();
  const double backward_end = now_ms();
  plan.update();
  const double end = now_ms();
  result.forward_ms.push_back(forward_end - begin);
  result.backward_ms.push_back(backward_end - forward_end);
  result.update_ms.push_back(end - backward_end);
  result.samples_ms.push_back(end - begin);
}

void drop_samples(Measurement& result) {
  for (auto* samples : {&result.samples_ms, &result.forward_ms, &result.backward_ms, &result.update_ms}) {
    samples->clear();
  }
}

void reserve_samples(Measurement& result, int passes) {
  for (auto* samples : {&result.samples_ms, &result.forward_ms, &result.backward_ms, &result.update_ms}) {
    samples->reserve(static_cast<size_t>(passes));
  }
}

// A network that computes infinities or NaN runs at another speed, and nothing it says is right.
void require_finite(const Plan& plan, const Graph& graph) {
  const ValueId checked = graph.training ? graph.outputs[1] : graph.outputs[0];
  const Tensor tensor = plan.read(checked);
  if (!std::ranges::all_of(tensor.values<float>(), [](float v) { return std::isfinite(v); })) {
    throw std::runtime_error(graph.training ? "the loss is not finite" : "the output is not finite");
  }
}

// A cell whose plan is made: passes can be run in any order with those of others.
class PreparedCase {
 public:
  PreparedCase(const Case& cell, const RunHooks& hooks) : cell_(cell) {
    use_threads(cell.threads);
    workload_ = build_workload(cell);
    const Engine& engine = find_engine(cell.engine);
    require_memory(memory_need_bytes(workload_, engine));
    if (engine.computes()) {
      const Cost cost = cost_of(workload_.graph);
      result_.flop = cost.flop;
      result_.bytes = cost.bytes;
    }
    plan_ = compile(cell, engine, workload_, hooks, result_);
    write_random_inputs(*plan_, workload_.graph, cell.seed);
    reserve_samples(result_, cell.warmup + cell.repeat);
  }

  void run_pass(int pass) {
    if (pass == cell_.warmup) drop_samples(result_);
    cell_.mode == Mode::train ? train_pass(*plan_, result_) : infer_pass(*plan_, result_);
  }

  Measurement finish() {
    require_finite(*plan_, workload_.graph);
    return std::move(result_);
  }

 private:
  const Case& cell_;
  Workload workload_;
  std::unique_ptr<Plan> plan_;
  Measurement result_;
};

// Ahead of the cell itself, whose memory is measured.
void choose_kernels(const Case& cell, const RunHooks& hooks) {
  const Workload workload = build_workload(cell);
  const Engine& engine = find_engine(cell.engine);
  require_memory(memory_need_bytes(workload, engine));
  engine.choose_kernels(workload.graph, compile_options(cell, workload, hooks));
}

Measurement without_samples(Status status, std::string reason) {
  return {.status = status, .reason = std::move(reason)};
}

const Measurement kInterrupted = without_samples(Status::interrupted, "interrupted");

// What `step` throws, as a measurement; nothing where it throws nothing.
template<typename Step>
std::optional<Measurement> failure_of(const Step& step) {
  try {
    step();
    return std::nullopt;
  } catch (const OutOfMemory& error) {
    return without_samples(Status::out_of_memory, error.what());
  } catch (const std::bad_alloc&) {
    return without_samples(Status::out_of_memory, "the system refused memory");
  } catch (const std::exception& error) {
    return without_samples(Status::failed, error.what());
  }
}

bool should_stop(const RunHooks& hooks) { return hooks.should_stop && hooks.should_stop(); }

// Cells that take turns: each has its plan, or a measurement that says why not.
class Turns {
 public:
  Turns(std::span<const Case> cells, const RunHooks& hooks)
      : cells_(cells), prepared_(cells.size()), failures_(cells.size()) {
    for (size_t i = 0; i < cells.size(); ++i) {
      failures_[i] = failure_of([&] { prepared_[i].emplace(cells[i], hooks); });
    }
  }

  void run_pass(size_t i, int pass) {
    if (failures_[i] || pass >= cells_[i].warmup + cells_[i].repeat) return;
    use_threads(cells_[i].threads);
    failures_[i] = failure_of([&] { prepared_[i]->run_pass(pass); });
  }

  Measurement finish(size_t i) {
    Measurement result;
    if (!failures_[i]) failures_[i] = failure_of([&] { result = prepared_[i]->finish(); });
    return failures_[i] ? std::move(*failures_[i]) : std::move(result);
  }

 private:
  std::span<const Case> cells_;
  std::vector<std::optional<PreparedCase>> prepared_;
  std::vector<std::optional<Measurement>> failures_;
};

}  // namespace

Measurement run_case(const Case& cell, const RunHooks& hooks) {
  if (auto failure = failure_of([&] { choose_kernels(cell, hooks); })) return std::move(*failure);
  reset_peak_memory();
  Measurement result = std::move(run_interleaved({&cell, 1}, hooks).front());
  if (result.status == Status::measured) result.peak_memory_bytes = peak_memory_bytes();
  return result;
}

std::vector<Measurement> run_interleaved(std::span<const Case> cells, const RunHooks& hooks) {
  Turns turns(cells, hooks);
  int passes = 0;
  for (const Case& cell : cells) passes = std::max(passes, cell.warmup + cell.repeat);
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t i = 0; i < cells.size(); ++i) {
      if (should_stop(hooks)) return std::vector(cells.size(), kInterrupted);
      if (hooks.progress) hooks.progress(pass, passes);
      turns.run_pass(i, pass);
    }
  }
  std::vector<Measurement> results;
  for (size_t i = 0; i < cells.size(); ++i) results.push_back(turns.finish(i));
  return results;
}

}  // namespace tacho
