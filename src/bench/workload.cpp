#include "bench/workload.h"

#include "engine/engines.h"
#include "engine/memory_estimate.h"
#include "engine/saturating.h"
#include "models/zoo.h"

namespace tacho {
namespace {

// Small steps: random labels cannot be learnt, and a diverging network would be measured on infinities.
UpdateRule update_rule(const Model& model) {
  if (model.loss == Loss::dice) return kVolumeAdam;
  return Sgd{.learning_rate = 1e-3};
}

int64_t host_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const Value& value : graph.values) {
    if (value.role == Role::activation) continue;
    bytes = saturating_add(bytes, saturating_bytes(value.shape, value.dtype));
  }
  return bytes;
}

}  // namespace

Workload build_workload(const Case& cell) {
  const Model& model = find_model(cell.model);
  Graph graph = build_model(model, {.batch = cell.batch, .image = cell.image, .classes = cell.classes});
  if (cell.mode == Mode::train) graph = gradient(graph, model.loss);
  return {std::move(graph), update_rule(model)};
}

int64_t memory_need_bytes(const Case& cell, const Workload& workload, bool keep_gradients) {
  CompileOptions options = compile_options(cell.execution, cell.seed, workload.update, {});
  options.keep_gradients |= keep_gradients;
  const Engine& engine = find_engine(cell.execution.engine);
  return saturating_add(engine.estimate_memory_bytes(workload.graph, options), host_bytes(workload.graph));
}

}  // namespace tacho
