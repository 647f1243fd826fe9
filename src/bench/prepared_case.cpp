#include "bench/prepared_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "bench/synthetic.h"
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

}  // namespace

PreparedCase::PreparedCase(const Case& cell) : cell_(cell) {
  use_threads(cell.threads);
  workload_ = build_workload(cell);
  const Engine& engine = find_engine(cell.engine);
  require_memory(memory_need_bytes(cell, workload_, engine));
  Weights weights = make_weights(cell, workload_.graph);
  const double begin = now_ms();
  plan_ = engine.compile(workload_.graph, std::move(weights), compile_options(cell, workload_));
  compile_ms_ = now_ms() - begin;
  write_random_inputs(*plan_, workload_.graph, cell.seed);
}

PassTimes PreparedCase::run_pass() {
  PassTimes times;
  times.begin_ms = now_ms();
  plan_->forward();
  times.forward_end_ms = now_ms();
  if (cell_.mode == Mode::infer) {
    times.backward_end_ms = times.end_ms = times.forward_end_ms;
    return times;
  }
  plan_->backward();
  times.backward_end_ms = now_ms();
  plan_->update();
  times.end_ms = now_ms();
  return times;
}

void PreparedCase::require_finite() const {
  const Graph& graph = workload_.graph;
  const Tensor tensor = plan_->read(graph.training ? graph.outputs[1] : graph.outputs[0]);
  if (!std::ranges::all_of(tensor.values<float>(), [](float v) { return std::isfinite(v); })) {
    throw std::runtime_error(graph.training ? "the loss is not finite" : "the output is not finite");
  }
}

Measurement PreparedCase::measurement() const {
  Measurement result = {.compile_ms = compile_ms_, .plan_memory_bytes = plan_->memory_bytes()};
  if (find_engine(cell_.engine).computes()) {
    const Cost cost = cost_of(workload_.graph);
    result.flop = cost.flop;
    result.bytes = cost.bytes;
  }
  for (auto* samples : {&result.samples_ms, &result.forward_ms, &result.backward_ms, &result.update_ms}) {
    samples->reserve(static_cast<size_t>(cell_.repeat));
  }
  return result;
}

void add_sample(const Case& cell, const PassTimes& times, Measurement& measurement) {
  measurement.samples_ms.push_back(times.end_ms - times.begin_ms);
  if (cell.mode == Mode::infer) return;
  measurement.forward_ms.push_back(times.forward_end_ms - times.begin_ms);
  measurement.backward_ms.push_back(times.backward_end_ms - times.forward_end_ms);
  measurement.update_ms.push_back(times.end_ms - times.backward_end_ms);
}

}  // namespace tacho
