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

// The reference, which is slow, runs once for all engines.
class Network : public testing::TestWithParam<NetworkCase> {
 protected:
  const Model& model() const { return find_model(GetParam().model); }
  Graph graph() const { return build_model(model(), {.batch = 2, .image = GetParam().image, .classes = 7}); }
};

TEST_P(Network, InfersLikeTheReference) {
  const Graph network = graph();
  const Material material = make_material(network, 21);
  const Outcome truth = run_inference(reference_engine(), network, material);
  for (const EngineUnderTest& engine : engines_under_test()) {
    SCOPED_TRACE(engine.name());
    const Outcome other = run_inference(engine, network, material);
    EXPECT_TRUE(agrees(truth.at("prediction"), other.at("prediction"), kPredictionTolerance));
  }
}

// Relative to the largest gradient in the same layer: that of a bias is but rounding where a batch norm
// follows.
void expect_same_gradients(const Graph& graph, const Outcome& truth, const Outcome& other) {
  std::map<std::string, double> magnitudes;
  for (const auto& [parameter, gradient] : graph.gradients) {
    const std::string& name = graph.value(parameter).name;
    const Tensor& expected = truth.at("gradient of " + name);
    double& magnitude = magnitudes[name.substr(0, name.rfind('.'))];
    magnitude = std::max(magnitude, largest_magnitude(expected));
    EXPECT_GT(magnitude, 0) << name;
    EXPECT_TRUE(mostly_agrees(expected, other.at("gradient of " + name), kGradientTolerance, magnitude))
        << "gradient of " << name;
  }
}

TEST_P(Network, TrainsLikeTheReference) {
  constexpr Sgd kRule{.learning_rate = 1e-3, .momentum = 0.9, .weight_decay = 1e-4};
  constexpr int kUpdates = 2;
  const Graph network = gradient(graph(), model().loss);
  Material material = make_material(network, 22);
  settle_relus(network, material.weights, 23);
  const Outcome truth = run_training(reference_engine(), network, material, kUpdates, kRule);
  for (const EngineUnderTest& engine : engines_under_test()) {
    SCOPED_TRACE(engine.name());
    const Outcome other = run_training(engine, network, material, kUpdates, kRule);
    for (const char* what : {"prediction", "loss"})
      EXPECT_TRUE(agrees(truth.at(what), other.at(what), kPredictionTolerance)) << what;
    expect_same_gradients(network, truth, other);
    for (const ValueId id : network.weights()) {
      const std::string& name = network.value(id).name;
      EXPECT_TRUE(agrees(truth.at(name), other.at(name), kParameterTolerance)) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Network, testing::ValuesIn(cases()),
                         [](const auto& test) { return std::string(test.param.model); });

}  // namespace
}  // namespace tacho::conformance
