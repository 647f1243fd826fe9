#include "models/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/cost.h"

namespace tacho {
namespace {

Graph build(std::string_view name, const ModelOptions& options = {}) {
  return build_model(find_model(name), options);
}

const Shape& output_shape(const Graph& graph) { return graph.shape(graph.outputs[0]); }

std::string error_of(std::string_view name, const ModelOptions& options) {
  try {
    build(name, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

// One image or block that every layer of the network can take, small enough for a quick test.
Extents small_image(const Model& model) {
  if (model.image.size() == 2) return {96, 80};
  return model.name == "unet3d" ? Extents{3, 27, 54} : Extents{4, 8, 16};
}

size_t count_of(const Graph& graph, std::string_view op) {
  return static_cast<size_t>(
      std::ranges::count_if(graph.nodes, [&](const Node& node) { return name_of(node.op) == op; }));
}

const std::vector<std::pair<std::string_view, int64_t>> kParameters = {
    {"squeezenet1_0", 1'248'424}, {"squeezenet1_1", 1'235'496}, {"vgg16", 138'357'544},
    {"vgg19", 143'667'240},       {"resnet18", 11'689'512},     {"resnet34", 21'797'672},
    {"resnet50", 25'557'032},     {"resnet101", 44'549'160},    {"resnet152", 60'192'808},
    {"densenet121", 7'978'856},   {"densenet161", 28'681'000},  {"densenet169", 14'149'480},
    {"densenet201", 20'013'928},  {"inception_v3", 23'834'568}, {"unet3d", 93'659'931},
    {"unet3d_lite", 365'827}};

TEST(Zoo, ListsEveryModelInOrderWithItsPublishedParameterCount) {
  ASSERT_EQ(models().size(), kParameters.size());
  for (size_t i = 0; i < kParameters.size(); ++i) {
    const Model& model = models()[i];
    EXPECT_EQ(model.name, kParameters[i].first);
    EXPECT_EQ(parameter_count(build_model(model, {})), kParameters[i].second) << model.name;
  }
}

TEST(Zoo, ForwardCostIsThePublishedOne) {
  const std::map<std::string_view, double> published_gflop = {
      {"squeezenet1_1", 0.70}, {"vgg16", 30.94},      {"resnet18", 3.63},
      {"resnet50", 8.18},      {"densenet121", 5.67}, {"inception_v3", 11.43}};
  for (const auto& [name, gflop] : published_gflop)
    EXPECT_NEAR(static_cast<double>(cost_of(build(name)).flop) * 1e-9, gflop, 0.005) << name;
}

TEST(Zoo, VolumeNetworkCostsItsFlopPerVoxel) {
  const Graph graph = build("unet3d", {.image = {40, 216, 216}});
  EXPECT_NEAR(static_cast<double>(cost_of(graph).flop) / (40 * 216 * 216), 0.378e6, 0.5e3);
}

TEST(Zoo, InputAndOutputFollowBatchImageAndClasses) {
  for (const Model& model : models()) {
    const ModelOptions options = {.batch = 2, .image = small_image(model), .classes = 7};
    const Graph graph = build_model(model, options);
    Shape input = {2, model.channels};
    input.insert(input.end(), options.image.begin(), options.image.end());
    Shape output = {2, 7};
    if (options.image.size() == 3) output = {2, 3, input[2], input[3], input[4]};
    EXPECT_EQ(graph.shape(graph.inputs[0]), input) << model.name;
    EXPECT_EQ(graph.value(graph.inputs[0]).name, "input") << model.name;
    EXPECT_EQ(output_shape(graph), output) << model.name;
    EXPECT_EQ(graph.name, model.name);
  }
}

TEST(Zoo, EveryModelHasATrainingGraphWithAGradientForEachParameter) {
  for (const Model& model : models()) {
    const Graph forward = build_model(model, {.batch = 2, .image = small_image(model), .classes = 5});
    const Graph training = gradient(forward, model.loss);
    const auto parameters =
        std::ranges::count(forward.values, Role::parameter, [](const Value& value) { return value.role; });
    EXPECT_EQ(std::ssize(training.gradients), parameters) << model.name;
    for (const auto& [parameter, derivative] : training.gradients)
      EXPECT_EQ(training.shape(parameter), training.shape(derivative)) << training.value(parameter).name;
  }
}

TEST(Zoo, NoTwoWeightsOfAModelShareAName) {
  for (const Model& model : models()) {
    const Graph graph = build_model(model, {.image = small_image(model)});
    std::vector<std::string> names;
    for (const ValueId id : graph.weights()) names.push_back(graph.value(id).name);
    std::ranges::sort(names);
    EXPECT_EQ(std::ranges::adjacent_find(names), names.end()) << model.name;
  }
}

TEST(Zoo, VolumeNetworkNamesItsParametersByCoder) {
  std::vector<std::string> expected;
  for (const std::string coder :
       {"encoders.0", "encoders.1", "encoders.2", "base", "decoders.0", "decoders.1", "decoders.2"})
    for (const std::string convolution : {".conv1.conv", ".conv2.conv"})
      for (const std::string part : {".weight", ".bias"}) expected.push_back(coder + convolution + part);
  expected.insert(expected.end(), {"output.conv.weight", "output.conv.bias"});

  const Graph graph = build("unet3d_lite");
  std::vector<std::string> names;
  for (const ValueId id : graph.weights()) names.push_back(graph.value(id).name);
  EXPECT_EQ(names, expected);
}

TEST(Zoo, WeightsHaveTorchvisionsNamesAndShapes) {
  struct Expected {
    std::string_view model, weight;
    Shape shape;
  };
  const std::vector<Expected> all = {
      {"squeezenet1_0", "features.0.weight", {96, 3, 7, 7}},
      {"squeezenet1_0", "features.12.expand3x3.weight", {256, 64, 3, 3}},
      {"squeezenet1_1", "features.6.squeeze.bias", {32}},
      {"squeezenet1_1", "classifier.1.weight", {1000, 512, 1, 1}},
      {"vgg16", "features.28.weight", {512, 512, 3, 3}},
      {"vgg19", "features.34.bias", {512}},
      {"vgg19", "classifier.0.weight", {4096, 25088}},
      {"resnet18", "layer4.1.bn2.running_var", {512}},
      {"resnet50", "layer1.0.downsample.0.weight", {256, 64, 1, 1}},
      {"resnet152", "layer3.35.conv3.weight", {1024, 256, 1, 1}},
      {"densenet121", "features.denseblock4.denselayer16.conv1.weight", {128, 992, 1, 1}},
      {"densenet161", "features.transition2.conv.weight", {384, 768, 1, 1}},
      {"densenet201", "features.norm5.running_mean", {1920}},
      {"inception_v3", "Mixed_6c.branch7x7dbl_4.conv.weight", {160, 160, 7, 1}},
      {"inception_v3", "Mixed_7b.branch3x3_2a.bn.weight", {384}},
      {"unet3d", "decoders.0.conv1.conv.weight", {300, 1800, 3, 3, 3}},
  };
  for (const auto& [model, weight, shape] : all) {
    const Graph graph = build(model);
    const auto id = graph.find(weight);
    ASSERT_TRUE(id) << model << " " << weight;
    EXPECT_EQ(graph.shape(*id), shape) << model << " " << weight;
  }
}

TEST(Zoo, BottleneckStridesOnItsThreeByThree) {
  const Graph graph = build("resnet50");
  const auto conv2 = std::ranges::find(graph.nodes, "layer2.0.conv2", &Node::name);
  ASSERT_NE(conv2, graph.nodes.end());
  EXPECT_EQ(std::get<Convolution>(conv2->op).stride, (Extents{2, 2}));
}

TEST(Zoo, VggPoolsToSevenBySevenOnlyWhereTheMapHasAnotherSize) {
  EXPECT_EQ(count_of(build("vgg16"), "adaptive_average_pool"), 0u);
  EXPECT_EQ(count_of(build("vgg16", {.image = {32, 32}}), "adaptive_average_pool"), 1u);
}

TEST(Zoo, DropoutStandsWhereTorchvisionHasIt) {
  const std::map<std::string_view, size_t> expected = {
      {"squeezenet1_1", 1}, {"vgg16", 2}, {"resnet18", 0}, {"densenet121", 0}, {"inception_v3", 1}};
  for (const auto& [name, dropouts] : expected) EXPECT_EQ(count_of(build(name), "dropout"), dropouts) << name;
}

TEST(Zoo, InceptionCountsPaddingAndUsesItsOwnEpsilon) {
  for (const Node& node : build("inception_v3").nodes) {
    if (const auto* norm = std::get_if<BatchNorm>(&node.op)) {
      EXPECT_EQ(norm->epsilon, 1e-3) << node.name;
    } else if (const auto* pool = std::get_if<AveragePool>(&node.op)) {
      EXPECT_TRUE(pool->count_padding) << node.name;
    }
  }
}

TEST(Zoo, TakesCifarImages) {
  const Graph graph = build("resnet50", {.batch = 32, .image = {32, 32}, .classes = 10});
  EXPECT_EQ(output_shape(graph), (Shape{32, 10}));
}

TEST(Zoo, OneNumberIsASquareImage) {
  const Graph graph = build("resnet18", {.image = {64}});
  EXPECT_EQ(graph.shape(graph.inputs[0]), (Shape{1, 3, 64, 64}));
}

TEST(Zoo, TakesOddImages) {
  for (const Model& model : models()) {
    if (model.image.size() != 2) continue;
    EXPECT_EQ(output_shape(build_model(model, {.image = {101, 77}})), (Shape{1, 1000})) << model.name;
  }
}

TEST(Zoo, RefusesTooSmallImagesAndNamesTheSmallestThatWorks) {
  const std::map<std::string_view, int64_t> smallest = {
      {"vgg16", 32}, {"vgg19", 32}, {"densenet121", 29}, {"inception_v3", 75}};
  for (const auto& [name, side] : smallest) {
    const std::string expected =
        fmt::format("the image {0}x{0} is too small for {1}: the smallest square that works is {2}x{2}",
                    side - 1, name, side);
    EXPECT_EQ(error_of(name, {.image = {side - 1, side - 1}}), expected);
    EXPECT_EQ(error_of(name, {.image = {side, side}}), "no error");
  }
  EXPECT_EQ(error_of("resnet18", {.image = {0, 224}}),
            "the image 0x224 is too small for resnet18: the smallest square that works is 1x1");
}

TEST(Zoo, SmallestSquareItNamesWorks) {
  for (const Model& model : models()) {
    if (model.image.size() != 2) continue;
    const std::string text = error_of(model.name, {.image = {0, 0}});
    const int64_t side = std::stoll(text.substr(text.rfind('x') + 1));
    EXPECT_EQ(error_of(model.name, {.image = {side, side}}), "no error");
    EXPECT_NE(error_of(model.name, {.image = {side - 1, side - 1}}), "no error");
  }
}

TEST(Zoo, VolumeNetworkRefusesExtentsItCannotDivide) {
  EXPECT_EQ(
      error_of("unet3d", {.image = {40, 430, 432}}),
      "unet3d cannot take the image 40x430x432: height 430 must be a multiple of 27 (nearest: 405 and 432)");
  EXPECT_EQ(error_of("unet3d_lite", {.image = {3, 8, 12}}),
            "unet3d_lite cannot take the image 3x8x12: depth 3 must be a multiple of 4 (smallest: 4); "
            "width 12 must be a multiple of 8 (nearest: 8 and 16)");
  EXPECT_EQ(error_of("unet3d", {.image = {1, 27, 27}}), "no error");
}

TEST(Zoo, RefusesTheWrongNumberOfExtentsWithAnExample) {
  EXPECT_EQ(error_of("unet3d", {.image = {216, 216}}),
            "unet3d needs --image DxHxW, such as 40x432x432, not 216x216");
  EXPECT_EQ(error_of("resnet50", {.image = {40, 216, 216}}),
            "resnet50 needs --image S or HxW, such as 224x224, not 40x216x216");
}

TEST(Zoo, RefusesEmptyBatchesAndClasses) {
  EXPECT_EQ(error_of("resnet18", {.batch = 0}), "resnet18: the batch is 0, expected 1 or more");
  EXPECT_EQ(error_of("resnet18", {.classes = -1}), "resnet18: -1 classes, expected 1 or more");
}

TEST(Zoo, RefusesBatchesBeyondCountingButNotLargeOnes) {
  EXPECT_NE(error_of("resnet18", {.batch = int64_t{1} << 40}).find("smaller"), std::string::npos);
  EXPECT_EQ(error_of("resnet18", {.batch = 4'000'000}), "no error");
}

TEST(Zoo, SuggestsTheNearestNameForAnUnknownOne) {
  try {
    find_model("resnt50");
    FAIL() << "found";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(),
                 "unknown model 'resnt50', did you mean 'resnet50'? (`tacho models` lists them)");
  }
}

}  // namespace
}  // namespace tacho
