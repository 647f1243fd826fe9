#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "agreement.h"
#include "engine/reference/reference_engine.h"
#include "graph/builder.h"
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

class NanInAMaxPool : public testing::TestWithParam<EngineUnderTest> {};

Graph pooled(const Shape& input, bool behind_a_convolution, const MaxPool& pool) {
  Builder b("pooled");
  ValueId x = b.input("input", input);
  const size_t axes = input.size() - 2;
  const ConvolutionOptions options = {
      .channels = 13, .kernel = Extents(axes, 3), .padding = Extents(axes, 1)};
  if (behind_a_convolution) x = b.convolution("conv", x, options);
  return b.finish(
      b.convolution("head", b.max_pool("pool", x, pool), {.channels = 5, .kernel = Extents(axes, 1)}));
}

// Each NaN of the reference is one here; Winograd's kernels spread them over a tile.
void expect_nan_where_the_reference_has_it(const Outcome& truth, const Outcome& other) {
  const auto expected = truth.at("prediction").values<float>(),
             found = other.at("prediction").values<float>();
  EXPECT_TRUE(std::ranges::any_of(expected, [](float value) { return std::isnan(value); }));
  EXPECT_FALSE(std::ranges::all_of(found, [](float value) { return std::isnan(value); }));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_TRUE(std::isnan(found[i]) || !std::isnan(expected[i])) << i;
  }
}

TEST_P(NanInAMaxPool, Survives) {
  const Shape flat = {2, 11, 14, 17}, deep = {2, 5, 9, 9, 11};
  const MaxPool halving = {.kernel = {2, 2}},
                overlapping = {.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}},
                halving_deep = {.kernel = {2, 2, 2}};
  for (const auto& [input, pool] : {std::pair{flat, halving}, {flat, overlapping}, {deep, halving_deep}}) {
    for (const bool behind_a_convolution : {false, true}) {
      const Graph graph = pooled(input, behind_a_convolution, pool);
      const Graph training = gradient(graph, Loss::dice);
      Material material = make_material(training, 14);
      const auto values = material.inputs[0].values<float>();
      // In all places of a window.
      for (size_t i = 0; i < 40; ++i) values[i * 7] = std::nanf("");
      expect_nan_where_the_reference_has_it(run_inference(reference_engine(), graph, material),
                                            run_inference(GetParam(), graph, material));
      expect_nan_where_the_reference_has_it(run_training(reference_engine(), training, material, 0),
                                            run_training(GetParam(), training, material, 0));
    }
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NanInAMaxPool);
INSTANTIATE_TEST_SUITE_P(Ops, NanInAMaxPool, testing::ValuesIn(engines_with_each_kernel()),
                         [](const auto& test) { return test.param.name(); });

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
