#include "bench/runner.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <new>

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

struct Interrupted {};

Weights make_weights(const Case& cell, const Graph& graph) {
  if (!cell.weights) return initialize(graph, cell.seed);
  Weights weights = read_safetensors(*cell.weights);
  check_weights(graph, weights, cell.weights->string());
  return weights;
}

std::unique_ptr<Plan> compile(const Case& cell, const Engine& engine, const Workload& workload,
                              Measurement& result) {
  const Weights weights = make_weights(cell, workload.graph);
  const double begin = now_ms();
  auto plan = engine.compile(workload.graph, weights,
                             {.threads = cell.threads, .seed = cell.seed, .update = workload.update});
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

void run_passes(const Case& cell, const RunHooks& hooks, Plan& plan, Measurement& result) {
  const int passes = cell.warmup + cell.repeat;
  reserve_samples(result, passes);
  for (int pass = 0; pass < passes; ++pass) {
    if (hooks.should_stop && hooks.should_stop()) throw Interrupted{};
    if (hooks.progress) hooks.progress(pass, passes);
    if (pass == cell.warmup) drop_samples(result);
    cell.mode == Mode::train ? train_pass(plan, result) : infer_pass(plan, result);
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

void measure(const Case& cell, const RunHooks& hooks, Measurement& result) {
  reset_peak_memory();
  use_threads(cell.threads);
  const Workload workload = build_workload(cell);
  const Engine& engine = find_engine(cell.engine);
  require_memory(memory_need_bytes(workload, engine));
  if (engine.computes()) result.flop = cost_of(workload.graph).flop;
  const auto plan = compile(cell, engine, workload, result);
  write_random_inputs(*plan, workload.graph, cell.seed);
  run_passes(cell, hooks, *plan, result);
  require_finite(*plan, workload.graph);
  result.peak_memory_bytes = peak_memory_bytes();
}

Measurement without_samples(Status status, std::string reason) {
  return {.status = status, .reason = std::move(reason)};
}

}  // namespace

Measurement run_case(const Case& cell, const RunHooks& hooks) {
  try {
    Measurement result;
    measure(cell, hooks, result);
    return result;
  } catch (const Interrupted&) {
    return without_samples(Status::interrupted, "interrupted");
  } catch (const OutOfMemory& error) {
    return without_samples(Status::out_of_memory, error.what());
  } catch (const std::bad_alloc&) {
    return without_samples(Status::out_of_memory, "the system refused memory");
  } catch (const std::exception& error) {
    return without_samples(Status::failed, error.what());
  }
}

}  // namespace tacho
