#include "distributed/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"

namespace tacho {
namespace {

Graph small_graph(bool training) {
  const Model& model = find_model("resnet18");
  Graph graph = build_model(model, {.batch = 2, .image = {32, 32}, .classes = 5});
  return training ? gradient(graph, model.loss) : graph;
}

std::unique_ptr<Plan> small_plan(const char* engine, bool training) {
  const Graph graph = small_graph(training);
  auto plan = find_engine(engine).compile(graph, initialize(graph, 1), {.threads = 2});
  for (const ValueId input : graph.inputs)
    plan->write(input, Tensor(graph.shape(input), graph.value(input).dtype));
  return plan;
}

// Keeps what it was given, and what that held at the time.
class RememberingGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void take(std::span<float> gradients) override {
    EXPECT_FALSE(finished);
    ranges.push_back(gradients);
    values.emplace_back(gradients.begin(), gradients.end());
  }
  void finish_exchange() override { finished = true; }

  std::vector<std::span<float>> ranges;
  std::vector<std::vector<float>> values;
  bool finished = false;
};

class Pass : public testing::TestWithParam<const char*> {};

TEST_P(Pass, GivesTheGroupEveryGradientOnceWhenItIsFinal) {
  const auto plan = small_plan(GetParam(), true);
  RememberingGroup group;
  run_pass(*plan, group);
  EXPECT_TRUE(group.finished);
  const std::vector<std::span<float>> ranges = plan->gradients();
  ASSERT_EQ(group.ranges.size(), ranges.size());
  ASSERT_GT(ranges.size(), 1u);
  size_t count = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(group.ranges[i].data(), ranges[i].data());
    EXPECT_EQ(group.ranges[i].size(), ranges[i].size());
    EXPECT_TRUE(std::ranges::equal(group.values[i], ranges[i]))
        << "range " << i << " changed after it was final";
    count += ranges[i].size();
  }
  int64_t parameters = 0;
  const Graph graph = small_graph(true);
  for (const auto& [parameter, gradient] : graph.gradients) parameters += elements(graph.shape(parameter));
  EXPECT_GE(count, static_cast<size_t>(parameters));
}

TEST_P(Pass, FinishesTheLastLayersGradientsFirst) {
  const auto plan = small_plan(GetParam(), true);
  RememberingGroup group;
  run_pass(*plan, group);
  // The classifier has 5 classes, the first convolution 7x7x3x64 weights.
  const auto holds = [&](size_t range, ValueId value) {
    const Tensor gradient = plan->read(value);
    return std::ranges::search(group.values[range], gradient.values<float>()).size() > 0;
  };
  const Graph graph = small_graph(true);
  const auto gradient_of = [&](const std::string& name) {
    for (const auto& [parameter, gradient] : graph.gradients) {
      if (graph.value(parameter).name == name) return gradient;
    }
    throw std::logic_error(name);
  };
  EXPECT_TRUE(holds(0, gradient_of("fc.bias")) || holds(1, gradient_of("fc.bias")));
  const size_t last = group.values.size() - 1;
  EXPECT_TRUE(holds(last, gradient_of("bn1.bias")) || holds(last - 1, gradient_of("bn1.bias")) ||
              holds(last - 2, gradient_of("bn1.bias")));
}

INSTANTIATE_TEST_SUITE_P(Engines, Pass, testing::Values("native", "reference"));

TEST(PassTimes, OfInferenceEndWithTheForwardPhase) {
  const auto plan = small_plan("null", false), group_plan = small_plan("null", true);
  const auto group = single_group();
  const PassTimes inference = run_pass(*plan, *group), training = run_pass(*group_plan, *group);
  EXPECT_EQ(inference.end_ms, inference.forward_end_ms);
  EXPECT_GT(training.end_ms, training.forward_end_ms);
}

TEST(PhaseSamples, AddUpToTheWholePass) {
  PhaseSamples samples;
  const PassTimes times = {1, 3, 7, 8, 9.5};
  samples.add(times);
  EXPECT_DOUBLE_EQ(
      samples.forward_ms[0] + samples.backward_ms[0] + samples.exchange_ms[0] + samples.update_ms[0],
      times.total_ms());
  EXPECT_DOUBLE_EQ(samples.exchange_ms[0], 1);
}

}  // namespace
}  // namespace tacho
