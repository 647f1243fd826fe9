#include "bench/workload.h"

#include "engine/memory_estimate.h"
#include "engine/saturating.h"
#include "models/zoo.h"

namespace tacho {
namespace {

// Small steps: random labels cannot be learnt, and a diverging network would be measured on infinities.
UpdateRule update_rule(const Model& model) {
  if (model.loss == Loss::dice) return Adam{.learning_rate = 1e-4, .weight_decay = 5e-4};
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

CompileOptions compile_options(const Case& cell, const Workload& workload) {
  return {.threads = cell.threads,
          .seed = cell.seed,
          .update = workload.update,
          .low_memory = cell.low_memory,
          .kernel = cell.kernel,
          .kernel_cache = cell.kernel_cache};
}

int64_t memory_need_bytes(const Case& cell, const Workload& workload, const Engine& engine) {
  return saturating_add(engine.estimate_memory_bytes(workload.graph, compile_options(cell, workload)),
                        host_bytes(workload.graph));
}

}  // namespace tacho
