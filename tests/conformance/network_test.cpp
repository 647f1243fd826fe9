#include <gtest/gtest.h>

#include <ostream>

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

class NetworkOnEngine : public testing::TestWithParam<std::tuple<const Engine*, NetworkCase>> {
 protected:
  const Engine& engine() const { return *std::get<0>(GetParam()); }
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

TEST_P(NetworkOnEngine, TrainsLikeTheReference) {
  const Graph network = gradient(graph(), model().loss);
  const Material material = make_material(network, 22);
  const Sgd rule{.learning_rate = 1e-3, .momentum = 0.9, .weight_decay = 1e-4};
  const auto truth = prepared(reference_engine(), network, material, rule);
  const auto other = prepared(engine(), network, material, rule);
  const auto expect_agreement = [&](ValueId id, const std::string& name, double tolerance) {
    EXPECT_TRUE(agrees(truth->read(id), other->read(id), tolerance)) << name;
  };
  for (int pass = 0; pass < 2; ++pass) {
    for (Plan* plan : {truth.get(), other.get()}) {
      plan->forward();
      plan->backward();
    }
    if (pass == 0) {
      expect_agreement(network.outputs[0], "prediction", kPredictionTolerance);
      expect_agreement(network.outputs[1], "loss", kPredictionTolerance);
      for (const auto& [parameter, gradient_id] : network.gradients) {
        expect_agreement(gradient_id, "gradient of " + network.value(parameter).name, kGradientTolerance);
      }
    }
    for (Plan* plan : {truth.get(), other.get()}) plan->update();
  }
  for (const ValueId id : network.weights()) {
    expect_agreement(id, network.value(id).name + " after two updates", kParameterTolerance);
  }
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NetworkOnEngine);
INSTANTIATE_TEST_SUITE_P(Zoo, NetworkOnEngine,
                         testing::Combine(testing::ValuesIn(engines_under_test()),
                                          testing::ValuesIn(cases())),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)->name()) + "_" +
                                  std::string(std::get<1>(test.param).model);
                         });

}  // namespace
}  // namespace tacho::conformance
