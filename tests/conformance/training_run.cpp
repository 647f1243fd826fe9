#include "training_run.h"

#include <fmt/format.h>

#include "engine/engines.h"

namespace tacho::conformance {
namespace {

constexpr uint64_t kDropoutSeed = 7;

}  // namespace

std::unique_ptr<Plan> prepared(const EngineUnderTest& engine, const Graph& graph, const Material& material,
                               const UpdateRule& rule, SumOverDevices* batch_norm_sums) {
  auto plan = engine.engine->compile(graph, clone(material.weights),
                                     {.threads = 2,
                                      .seed = kDropoutSeed,
                                      .update = rule,
                                      .keep_gradients = engine.keep_gradients,
                                      .low_memory = engine.low_memory,
                                      .kernel = engine.kernel,
                                      .batch_norm_sums = batch_norm_sums});
  for (size_t i = 0; i < graph.inputs.size(); ++i) plan->write(graph.inputs[i], material.inputs[i]);
  return plan;
}

Outcome run_inference(const EngineUnderTest& engine, const Graph& graph, const Material& material) {
  const auto plan = prepared(engine, graph, material, Sgd{});
  plan->forward();
  Outcome outcome;
  outcome.emplace("prediction", plan->read(graph.outputs[0]));
  return outcome;
}

Outcome run_training(const EngineUnderTest& engine, const Graph& graph, const Material& material, int updates,
                     const UpdateRule& rule) {
  const auto plan = prepared(engine, graph, material, rule);
  plan->forward();
  if (engine.keep_gradients) plan->backward();
  Outcome outcome;
  outcome.emplace("prediction", plan->read(graph.outputs[0]));
  outcome.emplace("loss", plan->read(graph.outputs[1]));
  if (graph.outputs.size() > 2) outcome.emplace("input gradient", plan->read(graph.outputs[2]));
  for (const auto& [parameter, gradient] : graph.gradients) {
    if (!engine.keep_gradients) break;
    outcome.emplace("gradient of " + graph.value(parameter).name, plan->read(gradient));
  }
  for (int update = 0; update < updates; ++update) {
    if (update > 0) plan->forward();
    if (!engine.keep_gradients) {
      plan->step();
      continue;
    }
    if (update > 0) plan->backward();
    plan->update();
  }
  for (const ValueId id : graph.weights()) outcome.emplace(graph.value(id).name, plan->read(id));
  return outcome;
}

std::string EngineUnderTest::name() const {
  return kernel.empty() ? std::string(engine->name()) : fmt::format("{}_by_{}", engine->name(), kernel);
}

std::vector<EngineUnderTest> engines_under_test() {
  std::vector<EngineUnderTest> chosen;
  for (const Engine* engine : engines()) {
    if (engine->computes() && engine->name() != "reference") chosen.emplace_back(*engine);
  }
  return chosen;
}

std::vector<EngineUnderTest> engines_with_each_kernel() {
  std::vector<EngineUnderTest> chosen = engines_under_test();
  for (const EngineUnderTest& choosing : engines_under_test()) {
    for (const std::string& kernel : choosing.engine->kernels())
      chosen.emplace_back(*choosing.engine, kernel);
  }
  return chosen;
}

}  // namespace tacho::conformance
