#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "agreement.h"
#include "engine/reference/reference_engine.h"
#include "models/zoo.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

// Rounding grows with depth; a ReLU whose input is rounding noise may open on one engine and not on the
// other.
constexpr double kPredictionTolerance = 2e-4, kGradientTolerance = 5e-3, kParameterTolerance = 1e-3;

struct NetworkCase {
  std::string_view model;
  Extents image;
};
void PrintTo(const NetworkCase& of, std::ostream* out) { *out << of.model; }

// Small, but so large that the last batch norm still sees several cells of each image.
Extents small_image(const Model& model) {
  if (model.family == "ResNet") return {33, 35};
  if (model.family == "DenseNet") return {64, 61};
  if (model.family == "Inception") return {107, 107};
  if (model.name == "unet3d") return {2, 27, 27};
  if (model.name == "unet3d_lite") return {4, 16, 8};
  return {40, 40};
}

std::vector<NetworkCase> cases() {
  std::vector<NetworkCase> all;
  for (const Model& model : models()) all.push_back({model.name, small_image(model)});
  return all;
}

class NetworkOnEngine : public testing::TestWithParam<std::tuple<EngineUnderTest, NetworkCase>> {
 protected:
  const EngineUnderTest& engine() const { return std::get<0>(GetParam()); }
  const Model& model() const { return find_model(std::get<1>(GetParam()).model); }
  Graph graph() const {
    return build_model(model(), {.batch = 2, .image = std::get<1>(GetParam()).image, .classes = 7});
  }
};

TEST_P(NetworkOnEngine, InfersLikeTheReference) {
  const Graph network = graph();
  const Material material = make_material(network, 21);
  const Outcome truth = run_inference(reference_engine(), network, material);
  const Outcome other = run_inference(engine(), network, material);
  EXPECT_TRUE(agrees(truth.at("prediction"), other.at("prediction"), kPredictionTolerance));
}

// Two plans of one training graph that go through the same passes.
class Pair {
 public:
  Pair(const Graph& graph, const EngineUnderTest& engine, const Material& material)
      : graph_(graph),
        truth_(prepared(reference_engine(), graph, material, kRule)),
        other_(prepared(engine, graph, material, kRule)) {}

  void pass() {
    for (Plan* plan : {truth_.get(), other_.get()}) {
      plan->forward();
      plan->backward();
    }
  }

  void update() {
    for (Plan* plan : {truth_.get(), other_.get()}) plan->update();
  }

  void expect_agreement(ValueId id, const std::string& what, double tolerance) const {
    EXPECT_TRUE(agrees(truth_->read(id), other_->read(id), tolerance)) << what;
  }

  // Relative to the largest gradient in the same layer: that of a bias is but rounding where a batch norm
  // follows.
  void expect_same_gradients() const {
    std::map<std::string, double> magnitudes;
    for (const auto& [parameter, gradient_id] : graph_.gradients) {
      const std::string& name = graph_.value(parameter).name;
      const Tensor truth = truth_->read(gradient_id);
      double& magnitude = magnitudes[name.substr(0, name.rfind('.'))];
      magnitude = std::max(magnitude, largest_magnitude(truth));
      EXPECT_GT(magnitude, 0) << name;
      EXPECT_TRUE(mostly_agrees(truth, other_->read(gradient_id), kGradientTolerance, magnitude))
          << "gradient of " << name;
    }
  }

 private:
  static constexpr Sgd kRule{.learning_rate = 1e-3, .momentum = 0.9, .weight_decay = 1e-4};

  const Graph& graph_;
  std::unique_ptr<Plan> truth_, other_;
};

TEST_P(NetworkOnEngine, TrainsLikeTheReference) {
  const Graph network = gradient(graph(), model().loss);
  Material material = make_material(network, 22);
  settle_relus(network, material.weights, 23);
  Pair pair(network, engine(), material);
  material.weights.clear();

  pair.pass();
  pair.expect_agreement(network.outputs[0], "prediction", kPredictionTolerance);
  pair.expect_agreement(network.outputs[1], "loss", kPredictionTolerance);
  pair.expect_same_gradients();

  pair.update();
  pair.pass();
  pair.update();
  for (const ValueId id : network.weights()) {
    pair.expect_agreement(id, network.value(id).name + " after two updates", kParameterTolerance);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkOnEngine);
INSTANTIATE_TEST_SUITE_P(Zoo, NetworkOnEngine,
                         testing::Combine(testing::ValuesIn(engines_under_test()),
                                          testing::ValuesIn(cases())),
                         [](const auto& test) {
                           return std::get<0>(test.param).name() + "_" +
                                  std::string(std::get<1>(test.param).model);
                         });

}  // namespace
}  // namespace tacho::conformance
