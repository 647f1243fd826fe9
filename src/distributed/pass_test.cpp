#include "distributed/pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/engines.h"
#include "models/initialize.h"
#include "models/zoo.h"

namespace tacho {
namespace {

constexpr float kUnwritten = 1e30f;

// Images so large that no tap of a kernel meets padding only: the native engine leaves the gradients of those
// 0.
Graph small_graph(bool training) {
  const Model& model = find_model("resnet18");
  Graph graph = build_model(model, {.batch = 1, .image = {64, 64}, .classes = 5});
  return training ? gradient(graph, model.loss) : graph;
}

// With random images and labels, and gradients that no pass has written yet marked as such.
std::unique_ptr<Plan> small_plan(const char* engine, bool training) {
  const Graph graph = small_graph(training);
  auto plan = find_engine(engine).compile(graph, initialize(graph, 1), {.threads = 1});
  for (const ValueId id : graph.inputs) {
    Tensor input(graph.shape(id), graph.value(id).dtype);
    if (input.dtype() == DType::f32) Random(2).fill_normal(input.values<float>(), 0, 1);
    plan->write(id, input);
  }
  for (const std::span<float> range : plan->gradients()) std::ranges::fill(range, kUnwritten);
  return plan;
}

// Keeps what it was given, and what that held at the time.
class RememberingGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 2; }
  void take(std::span<float> gradients) override {
    EXPECT_FALSE(finished);
    ranges.push_back(gradients);
    values.emplace_back(gradients.begin(), gradients.end());
  }
  void finish_exchange() override { finished = true; }
  ExchangeTimes last_exchange() const override { return {}; }
  std::string_view way() const override { return {}; }
  bool reaches_devices() const override { return false; }

  std::vector<std::span<float>> ranges;
  std::vector<std::vector<float>> values;
  bool finished = false;
};

class Pass : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { run_pass(*plan_, group_); }

  ValueId gradient_of(const std::string& name) const {
    for (const auto& [parameter, gradient] : graph_.gradients) {
      if (graph_.value(parameter).name == name) return gradient;
    }
    throw std::logic_error(name);
  }

  // The range that holds the values of this parameter's gradient, as the sink got them.
  size_t range_with(const std::string& parameter) const {
    const Tensor gradient = plan_->read(gradient_of(parameter));
    for (size_t i = 0; i < group_.values.size(); ++i) {
      if (!std::ranges::search(group_.values[i], gradient.values<float>()).empty()) return i;
    }
    ADD_FAILURE() << "no range holds the gradient of " << parameter;
    return 0;
  }

  Graph graph_ = small_graph(true);
  std::unique_ptr<Plan> plan_ = small_plan(GetParam(), true);
  RememberingGroup group_;
};

TEST_P(Pass, GivesTheGroupEveryGradientOnceWhenItIsFinal) {
  EXPECT_TRUE(group_.finished);
  const std::vector<std::span<float>> ranges = plan_->gradients();
  ASSERT_EQ(group_.ranges.size(), ranges.size());
  ASSERT_GT(ranges.size(), 20u);  // one for each layer at least
  for (size_t i = 0; i < ranges.size(); ++i) {
    EXPECT_EQ(group_.ranges[i].data(), ranges[i].data());
    EXPECT_TRUE(std::ranges::equal(group_.values[i], ranges[i]))
        << "range " << i << " changed after it was final";
    for (size_t k = 0; k < i; ++k) {
      const bool apart = ranges[k].data() + ranges[k].size() <= ranges[i].data() ||
                         ranges[i].data() + ranges[i].size() <= ranges[k].data();
      EXPECT_TRUE(apart) << k << " and " << i;
    }
  }
  for (const auto& [parameter, gradient] : graph_.gradients) {
    const Tensor values = plan_->read(gradient);
    EXPECT_THAT(values.values<float>(), testing::Not(testing::Contains(kUnwritten)))
        << graph_.value(parameter).name;
  }
}

TEST_P(Pass, FinishesTheLastLayersGradientsFirst) {
  // Of vectors, which have the same layout everywhere.
  EXPECT_LT(range_with("fc.bias"), range_with("layer4.1.bn2.bias"));
  EXPECT_LT(range_with("layer4.1.bn2.bias"), range_with("layer2.0.bn1.bias"));
  EXPECT_LT(range_with("layer2.0.bn1.bias"), range_with("bn1.bias"));
}

INSTANTIATE_TEST_SUITE_P(Engines, Pass, testing::Values("native", "reference"));

TEST(PassTimes, OfInferenceEndWithTheForwardPhase) {
  const auto plan = small_plan("null", false), group_plan = small_plan("null", true);
  const auto group = single_group();
  const PassTimes inference = run_pass(*plan, *group), training = run_pass(*group_plan, *group);
  EXPECT_EQ(inference.end_ms, inference.forward_end_ms);
  EXPECT_GT(training.end_ms, training.forward_end_ms);
}

}  // namespace
}  // namespace tacho
