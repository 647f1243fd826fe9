#include "models/initialize.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "models/zoo.h"

namespace tacho {
namespace {

Graph with_defaults(std::string_view name) { return build_model(find_model(name), {}); }

double deviation(const Tensor& tensor) {
  double sum = 0, squares = 0;
  for (const double value : tensor.values<float>()) sum += value, squares += value * value;
  const double count = static_cast<double>(tensor.size());
  return std::sqrt(squares / count - sum / count * (sum / count));
}

double largest(const Tensor& tensor) {
  double bound = 0;
  for (const double value : tensor.values<float>()) bound = std::max(bound, std::abs(value));
  return bound;
}

bool all_are(const Tensor& tensor, float expected) {
  return std::ranges::all_of(tensor.values<float>(), [&](float value) { return value == expected; });
}

// Within three percent, for a tensor of many elements.
void expect_deviation(const Tensor& tensor, double expected) {
  EXPECT_NEAR(deviation(tensor) / expected, 1, 0.03);
}

TEST(Initialize, GivesEveryWeightItsShape) {
  const Graph graph = with_defaults("unet3d_lite");
  const Weights weights = initialize(graph, 1);
  EXPECT_EQ(weights.size(), graph.weights().size());
  for (const ValueId id : graph.weights())
    EXPECT_EQ(weights.at(graph.value(id).name).shape(), graph.shape(id));
}

TEST(Initialize, DependsOnTheSeedAlone) {
  const Graph graph = with_defaults("squeezenet1_1");
  const Weights first = initialize(graph, 1), again = initialize(graph, 1), other = initialize(graph, 2);
  const auto values = [](const Weights& weights) { return weights.at("features.0.weight").values<float>(); };
  EXPECT_TRUE(std::ranges::equal(values(first), values(again)));
  EXPECT_FALSE(std::ranges::equal(values(first), values(other)));
}

// Returns how many scales it found at 0; all else must be as it was.
int silenced(std::string_view model, std::string_view suffix) {
  const Graph graph = with_defaults(model);
  const Weights before = initialize(graph, 1);
  Weights weights = initialize(graph, 1);
  start_from_shortcuts(graph, weights);
  int count = 0;
  for (const auto& [name, tensor] : weights) {
    const bool is_silent = name.ends_with(suffix) && all_are(tensor, 0);
    count += is_silent;
    EXPECT_TRUE(is_silent || std::ranges::equal(tensor.values<float>(), before.at(name).values<float>()))
        << name;
  }
  return count;
}

TEST(StartFromShortcuts, SilencesTheBranchesAndLeavesTheRest) {
  EXPECT_EQ(silenced("resnet18", ".bn2.weight"), 8);
  EXPECT_EQ(silenced("resnet50", ".bn3.weight"), 16);
  EXPECT_EQ(silenced("densenet121", ".weight"), 0);
}

TEST(Initialize, GivesWeightsOfOneShapeDifferentValues) {
  const Weights weights = initialize(with_defaults("unet3d_lite"), 1);
  const Tensor &first = weights.at("encoders.1.conv2.conv.weight"),
               &second = weights.at("decoders.1.conv2.conv.weight");
  ASSERT_EQ(first.shape(), second.shape());
  EXPECT_FALSE(std::ranges::equal(first.values<float>(), second.values<float>()));
}

// The first values of one weight alone, as initialize() would draw them for the whole network.
Tensor drawn(std::string_view model, std::string_view weight) {
  const Graph graph = with_defaults(model);
  Graph alone;
  alone.values = {graph.value(graph.find(weight).value())};
  return std::move(initialize(alone, 1).at(std::string(weight)));
}

TEST(Initialize, GivesAWeightTheSameValuesWhateverElseTheNetworkHas) {
  const Tensor alone = drawn("unet3d_lite", "base.conv1.conv.weight");
  const Weights weights = initialize(with_defaults("unet3d_lite"), 1);
  EXPECT_TRUE(
      std::ranges::equal(alone.values<float>(), weights.at("base.conv1.conv.weight").values<float>()));
}

TEST(Initialize, ResNetIsKaimingNormalByFanOut) {
  expect_deviation(drawn("resnet18", "conv1.weight"), std::sqrt(2.0 / (64 * 7 * 7)));
  expect_deviation(drawn("resnet18", "layer2.0.conv1.weight"), std::sqrt(2.0 / (128 * 3 * 3)));
  EXPECT_NEAR(largest(drawn("resnet18", "fc.weight")), 1 / std::sqrt(512.0), 1e-4);
}

TEST(Initialize, BatchNormStartsAsIdentity) {
  EXPECT_TRUE(all_are(drawn("resnet18", "bn1.weight"), 1));
  EXPECT_TRUE(all_are(drawn("resnet18", "bn1.bias"), 0));
  EXPECT_TRUE(all_are(drawn("resnet18", "bn1.running_mean"), 0));
  EXPECT_TRUE(all_are(drawn("resnet18", "bn1.running_var"), 1));
}

TEST(Initialize, DenseNetIsKaimingNormalByFanInWithoutLinearBias) {
  expect_deviation(drawn("densenet121", "features.conv0.weight"), std::sqrt(2.0 / (3 * 7 * 7)));
  EXPECT_TRUE(all_are(drawn("densenet121", "classifier.bias"), 0));
  EXPECT_NEAR(largest(drawn("densenet121", "classifier.weight")), 1 / std::sqrt(1024.0), 1e-4);
}

TEST(Initialize, SqueezeNetIsKaimingUniformUpToItsLastConvolution) {
  EXPECT_NEAR(largest(drawn("squeezenet1_0", "features.0.weight")), std::sqrt(6.0 / (3 * 7 * 7)), 1e-3);
  EXPECT_TRUE(all_are(drawn("squeezenet1_0", "features.0.bias"), 0));
  expect_deviation(drawn("squeezenet1_0", "classifier.1.weight"), 0.01);
}

TEST(Initialize, VggIsKaimingNormalByFanOutWithNarrowLinearLayers) {
  expect_deviation(drawn("vgg16", "features.2.weight"), std::sqrt(2.0 / (64 * 3 * 3)));
  EXPECT_TRUE(all_are(drawn("vgg16", "features.2.bias"), 0));
  expect_deviation(drawn("vgg16", "classifier.6.weight"), 0.01);
  EXPECT_TRUE(all_are(drawn("vgg16", "classifier.6.bias"), 0));
}

TEST(Initialize, InceptionIsTruncatedNormalWithPyTorchsLinearBias) {
  expect_deviation(drawn("inception_v3", "Mixed_7c.branch1x1.conv.weight"), 0.1);
  expect_deviation(drawn("inception_v3", "fc.weight"), 0.1);
  EXPECT_NEAR(largest(drawn("inception_v3", "fc.bias")), 1 / std::sqrt(2048.0), 1e-3);
}

TEST(Initialize, VolumeNetworkIsPyTorchsDefault) {
  const double bound = 1 / std::sqrt(64 * 27.0);
  EXPECT_NEAR(largest(drawn("unet3d_lite", "base.conv2.conv.weight")), bound, 1e-4);
  EXPECT_NEAR(largest(drawn("unet3d_lite", "base.conv2.conv.bias")), bound, 3e-3);
}

class CheckWeights : public testing::Test {
 protected:
  std::string error() {
    try {
      check_weights(model_, graph_, weights_, "w.safetensors");
    } catch (const UserError& error) {
      return error.what();
    }
    return "no error";
  }
  void rename(const std::string& from, const std::string& to) {
    auto entry = weights_.extract(from);
    entry.key() = to;
    weights_.insert(std::move(entry));
  }

  Model model_ = find_model("unet3d_lite");
  Graph graph_ = with_defaults("unet3d_lite");
  Weights weights_ = initialize(graph_, 1);
};

TEST_F(CheckWeights, AcceptsWhatFits) {
  EXPECT_EQ(check_weights(model_, graph_, weights_, "w.safetensors"), 0);
}

TEST_F(CheckWeights, DropsBatchCounters) {
  const size_t expected = weights_.size();
  weights_["bn1.num_batches_tracked"] = Tensor({}, DType::i64);
  EXPECT_EQ(check_weights(model_, graph_, weights_, "w.safetensors"), 0);
  EXPECT_EQ(weights_.size(), expected);
}

TEST_F(CheckWeights, DropsTheAuxiliaryHeadOfInceptionOnly) {
  weights_["AuxLogits.fc.weight"] = Tensor({1}, DType::f32);
  weights_["AuxLogits.conv0.bn.num_batches_tracked"] = Tensor({}, DType::i64);
  EXPECT_NE(error().find("unknown AuxLogits.fc.weight"), std::string::npos);
  model_.training_head = find_model("inception_v3").training_head;
  EXPECT_EQ(check_weights(model_, graph_, weights_, "w.safetensors"), 1);
}

TEST_F(CheckWeights, NamesMissingAndUnknownWeights) {
  rename("base.conv1.conv.bias", "bottom.conv1.conv.bias");
  EXPECT_EQ(
      error(),
      "w.safetensors does not fit unet3d_lite: missing base.conv1.conv.bias; unknown bottom.conv1.conv.bias");
}

TEST_F(CheckWeights, NamesThreeAndCountsTheRest) {
  weights_.clear();
  EXPECT_EQ(error(),
            "w.safetensors does not fit unet3d_lite: missing encoders.0.conv1.conv.weight, "
            "encoders.0.conv1.conv.bias, encoders.0.conv2.conv.weight and 27 more");
}

TEST_F(CheckWeights, NamesMisshapenAndMistypedWeights) {
  weights_["output.conv.bias"] = Tensor({4}, DType::f32);
  EXPECT_EQ(error(), "w.safetensors does not fit unet3d_lite: misshapen output.conv.bias (4, expected 3)");
  weights_["output.conv.bias"] = Tensor({3}, DType::f64);
  EXPECT_EQ(error(),
            "w.safetensors does not fit unet3d_lite: misshapen output.conv.bias (float64, expected float32)");
}

}  // namespace
}  // namespace tacho
