#include "tensors/onnx.h"

#include <gmock/gmock.h>
#include <onnx/checker.h>
#include <onnx/shape_inference/implementation.h>

#include <functional>

#include "graph/builder.h"
#include "graph/gradient.h"
#include "models/initialize.h"
#include "models/zoo.h"
#include "tensors/test_files.h"

namespace tacho {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Weights zeros(const Graph& graph) {
  Weights weights;
  for (const ValueId id : graph.weights())
    weights.emplace(graph.value(id).name, Tensor(graph.shape(id), DType::f32));
  return weights;
}

onnx::ModelProto exported(const Graph& graph, const Weights& weights) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(to_onnx(graph, weights)));
  return model;
}

onnx::ModelProto exported(const Graph& graph) { return exported(graph, zeros(graph)); }

Shape shape_of(const onnx::ValueInfoProto& info) {
  Shape shape;
  for (const auto& dim : info.type().tensor_type().shape().dim()) shape.push_back(dim.dim_value());
  return shape;
}

Extents integers(const onnx::NodeProto& node, const std::string& name) {
  for (const auto& attribute : node.attribute())
    if (attribute.name() == name) return {attribute.ints().begin(), attribute.ints().end()};
  return {};
}

// What the checker finds when it infers every shape for itself; a contradiction throws.
void check(onnx::ModelProto model) {
  onnx::checker::check_model(model);
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), {true, 1, false});
}

Graph one_layer(Shape input, const std::function<ValueId(Builder&, ValueId)>& layer) {
  Builder builder("one_layer");
  const ValueId x = builder.input("input", std::move(input));
  return builder.finish(layer(builder, x));
}

TEST(Onnx, EveryNetworkPassesTheCheckerWithItsOwnShapesAndNames) {
  for (const Model& model : models()) {
    SCOPED_TRACE(model.name);
    const Graph graph = build_model(model, {.batch = 2, .classes = 10});
    const onnx::ModelProto proto = exported(graph);
    EXPECT_NO_THROW(check(proto));
    EXPECT_EQ(shape_of(proto.graph().input(0)), graph.shape(graph.inputs[0]));
    EXPECT_EQ(shape_of(proto.graph().output(0)), graph.shape(graph.outputs[0]));
    const auto weights = graph.weights();
    ASSERT_GE(static_cast<size_t>(proto.graph().initializer_size()), weights.size());
    for (size_t i = 0; i < weights.size(); ++i)
      EXPECT_EQ(proto.graph().initializer(static_cast<int>(i)).name(), graph.value(weights[i]).name);
  }
}

TEST(Onnx, TheCheckerWouldFindAWrongShape) {
  onnx::ModelProto proto = exported(build_model(find_model("squeezenet1_1"), {}));
  auto* shape =
      proto.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape->mutable_dim(1)->set_dim_value(999);
  EXPECT_ANY_THROW(check(proto));
}

TEST(Onnx, WeightsAreStoredBitByBit) {
  const Graph graph = one_layer({1, 2, 3, 3}, [](Builder& builder, ValueId x) {
    return builder.convolution("conv", x, {.channels = 3, .kernel = {1, 1}});
  });
  const Weights weights = initialize(graph, 7);
  const onnx::TensorProto stored = exported(graph, weights).graph().initializer(0);
  const Tensor& weight = weights.at("conv.weight");
  EXPECT_EQ(stored.raw_data(), std::string(reinterpret_cast<const char*>(weight.raw()), weight.bytes()));
}

TEST(Onnx, BatchNormIsANodeOfItsOwn) {
  const Graph graph = one_layer({1, 2, 3, 3}, [](Builder& builder, ValueId x) {
    x = builder.convolution("conv", x, {.channels = 3, .kernel = {1, 1}, .bias = false});
    return builder.batch_norm("bn", x, 1e-3);
  });
  const onnx::ModelProto proto = exported(graph);
  ASSERT_EQ(proto.graph().node_size(), 2);
  EXPECT_THAT(proto.graph().node(1).input(),
              ElementsAre("conv", "bn.weight", "bn.bias", "bn.running_mean", "bn.running_var"));
  EXPECT_FLOAT_EQ(proto.graph().node(1).attribute(0).f(), 1e-3f);
}

TEST(Onnx, LayersOfOneNameGiveValuesOfDifferentNames) {
  const Graph graph = one_layer({1, 2, 3, 3}, [](Builder& builder, ValueId x) {
    return builder.relu("last", builder.relu("same", builder.relu("same", x)));
  });
  EXPECT_NO_THROW(check(exported(graph)));
}

TEST(Onnx, CeilModeBecomesThePaddingThatItsShapeNeeds) {
  const Graph graph = one_layer({1, 1, 6, 7}, [](Builder& builder, ValueId x) {
    return builder.max_pool("pool", x, {.kernel = {3, 3}, .stride = {2, 2}, .ceil_mode = true});
  });
  const onnx::ModelProto proto = exported(graph);
  EXPECT_EQ(integers(proto.graph().node(0), "pads"), (Extents{0, 0, 1, 0}));
  EXPECT_NO_THROW(check(proto));
}

TEST(Onnx, UnevenAdaptivePoolingIsRefusedWithItsLayer) {
  const Graph graph = one_layer({1, 1, 8, 8}, [](Builder& builder, ValueId x) {
    return builder.adaptive_average_pool("avgpool", x, {7, 7});
  });
  EXPECT_THAT(complaint([&] { to_onnx(graph, {}); }), HasSubstr("avgpool: adaptive_average_pool"));
}

TEST(Onnx, TrainingGraphsAreRefused) {
  const Graph inference =
      one_layer({2, 3}, [](Builder& builder, ValueId x) { return builder.linear("fc", x, {.features = 4}); });
  const Graph training = gradient(inference, Loss::softmax_cross_entropy);
  EXPECT_THAT(complaint([&] { to_onnx(training, zeros(training)); }), HasSubstr("training graph"));
}

TEST(Onnx, WritesTheFile) {
  const Graph graph = one_layer({1, 3}, [](Builder& builder, ValueId x) { return builder.relu("relu", x); });
  const TestFile file;
  write_onnx(file.path(), graph, {});
  EXPECT_EQ(file.content(), to_onnx(graph, {}));
}

}  // namespace
}  // namespace tacho
