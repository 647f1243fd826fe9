#include "bench/prepared_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/synthetic.h"
#include "engine/engines.h"
#include "graph/cost.h"
#include "models/initialize.h"
#include "tensors/model_weights.h"

namespace tacho {
namespace {

Weights make_weights(const Case& cell, const Graph& graph) {
  if (!cell.weights) return initialize(graph, cell.seed);
  return read_model_weights(*cell.weights, find_model(cell.model), graph).weights;
}

}  // namespace

PreparedCase::PreparedCase(const Case& cell, const Workload& workload,
                           const std::filesystem::path& kernel_cache)
    : cell_(cell), workload_(workload) {
  use_threads(cell.execution.threads);
  Weights weights = make_weights(cell, workload_.graph);
  const double begin = now_ms();
  plan_ = find_engine(cell.execution.engine)
              .compile(workload_.graph, std::move(weights),
                       compile_options(cell.execution, cell.seed, workload_.update, kernel_cache));
  compile_ms_ = now_ms() - begin;
  write_random_inputs(*plan_, workload_.graph, cell.seed);
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
  if (find_engine(cell_.execution.engine).computes()) {
    const Cost cost = cost_of(workload_.graph);
    result.flop = cost.flop;
    result.bytes = cost.bytes;
  }
  const auto passes = static_cast<size_t>(cell_.repeat);
  result.samples_ms.reserve(passes);
  result.phases.reserve(passes);
  return result;
}

void add_sample(const PassTimes& times, const Case& cell, Measurement& measurement) {
  measurement.samples_ms.push_back(times.total_ms());
  if (cell.mode == Mode::train) measurement.phases.add(times);
}

}  // namespace tacho
