#include <gtest/gtest.h>

#include <algorithm>

#include "agreement.h"
#include "engine/reference/reference_engine.h"
#include "op_cases.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

constexpr double kTolerance = 2e-5, kLossTolerance = 1e-4;  // in a loss, much cancels

class OpOnEngine : public testing::TestWithParam<std::tuple<EngineUnderTest, OpCase>> {
 protected:
  const EngineUnderTest& engine() const { return std::get<0>(GetParam()); }
  const Graph& inference_graph() const { return std::get<1>(GetParam()).graph; }
  Graph training_graph() const {
    return gradient(inference_graph(), std::get<1>(GetParam()).loss,
                    std::get<1>(GetParam()).gradient_options());
  }
};

void expect_agreement(const Outcome& truth, const Outcome& other) {
  for (const auto& [name, tensor] : truth) {
    EXPECT_TRUE(agrees(tensor, other.at(name), name == "loss" ? kLossTolerance : kTolerance)) << name;
  }
}

TEST_P(OpOnEngine, InfersLikeTheReference) {
  const Material material = make_material(inference_graph(), 11);
  expect_agreement(run_inference(reference_engine(), inference_graph(), material),
                   run_inference(engine(), inference_graph(), material));
}

TEST_P(OpOnEngine, TrainsLikeTheReference) {
  const Graph graph = training_graph();
  const Material material = make_material(graph, 12);
  expect_agreement(run_training(reference_engine(), graph, material, 0),
                   run_training(engine(), graph, material, 0));
}

// Two passes: dropout masks and running statistics move on, gradients are overwritten, packed weights are
// refreshed.
TEST_P(OpOnEngine, UpdatesLikeTheReference) {
  const Graph graph = training_graph();
  if (graph.gradients.empty()) GTEST_SKIP() << "nothing to train";
  const Material material = make_material(graph, 13);
  const Sgd rule{.learning_rate = 0.05, .momentum = 0.9, .weight_decay = 0.01};
  expect_agreement(run_training(reference_engine(), graph, material, 2, rule),
                   run_training(engine(), graph, material, 2, rule));
}

bool has_convolution(const OpCase& of) {
  return std::ranges::any_of(of.graph.nodes,
                             [](const Node& node) { return std::holds_alternative<Convolution>(node.op); });
}

// Each op as the engines choose to compute it, and convolutions with each kernel.
std::vector<std::tuple<EngineUnderTest, OpCase>> all_cases() {
  std::vector<std::tuple<EngineUnderTest, OpCase>> all;
  for (const EngineUnderTest& engine : engines_with_each_kernel()) {
    for (const OpCase& of : op_cases()) {
      if (engine.kernel.empty() || has_convolution(of)) all.emplace_back(engine, of);
    }
  }
  return all;
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OpOnEngine);
INSTANTIATE_TEST_SUITE_P(Ops, OpOnEngine, testing::ValuesIn(all_cases()), [](const auto& test) {
  return std::get<0>(test.param).name() + "_" + std::get<1>(test.param).name;
});

}  // namespace
}  // namespace tacho::conformance
