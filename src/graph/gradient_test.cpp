#include "graph/gradient.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/builder.h"

namespace tacho {
namespace {

template<typename T>
int count(const Graph& graph) {
  return static_cast<int>(std::ranges::count_if(
      graph.nodes, [](const Node& node) { return std::holds_alternative<T>(node.op); }));
}

// Two convolutions around a residual connection.
Graph residual_network() {
  Builder b("residual");
  const ValueId x = b.input("input", {2, 3, 4, 4});
  const ValueId a = b.convolution("a", x, {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}});
  const ValueId c = b.convolution("c", a, {.channels = 8, .kernel = {3, 3}, .padding = {1, 1}});
  const ValueId sum = b.add("sum", a, c);
  return b.finish(b.flatten("flatten", b.global_average_pool("pool", sum)));
}

TEST(Gradient, EveryParameterHasAGradientOfItsShape) {
  const Graph graph = gradient(residual_network(), Loss::softmax_cross_entropy);
  ASSERT_EQ(graph.gradients.size(), 4u);
  for (const ParameterGradient& pair : graph.gradients) {
    EXPECT_EQ(graph.shape(pair.parameter), graph.shape(pair.gradient));
  }
}

TEST(Gradient, TheFirstLayerNeedsNoDataGradientUnlessAsked) {
  EXPECT_EQ(count<ConvolutionBackwardData>(gradient(residual_network(), Loss::softmax_cross_entropy)), 1);
  const Graph asked = gradient(residual_network(), Loss::softmax_cross_entropy, {.of_input = true});
  EXPECT_EQ(count<ConvolutionBackwardData>(asked), 2);
  EXPECT_EQ(asked.shape(asked.outputs.back()), asked.shape(asked.inputs[0]));
}

TEST(Gradient, ContributionsOfSeveralReadersAreAdded) {
  const Graph graph = gradient(residual_network(), Loss::softmax_cross_entropy);
  EXPECT_EQ(count<Add>(graph), 2);  // the residual sum itself, and the gradient of its shared input
}

TEST(Gradient, ForwardNodesComeInTrainingModeBeforeTheLoss) {
  Builder b("norm");
  const ValueId x = b.input("input", {2, 3, 4, 4});
  const ValueId y = b.dropout("drop", b.batch_norm("norm", x), 0.5);
  const Graph graph = gradient(b.finish(y), Loss::dice);
  EXPECT_TRUE(std::get<BatchNorm>(graph.nodes[0].op).training);
  EXPECT_TRUE(std::get<Dropout>(graph.nodes[1].op).training);
  EXPECT_TRUE(std::holds_alternative<DiceLoss>(graph.nodes[graph.backward_begin - 1].op));
  EXPECT_EQ(graph.value(graph.inputs[1]).name, "target");
}

TEST(Gradient, NodesOnlyReadWhatAlreadyExists) {
  const Graph graph = gradient(residual_network(), Loss::dice);
  std::vector<bool> exists;
  for (const Value& value : graph.values) exists.push_back(value.role != Role::activation);
  for (const Node& node : graph.nodes) {
    for (ValueId id : node.inputs) EXPECT_TRUE(exists[static_cast<size_t>(id)]) << node.name;
    for (ValueId id : node.outputs) exists[static_cast<size_t>(id)] = true;
  }
}

}  // namespace
}  // namespace tacho
