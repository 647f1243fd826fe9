#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/engines.h"
#include "engine/native/native_plan.h"
#include "engine/reference/reference_engine.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "kernels/blocked/blocked.h"
#include "models/initialize.h"

namespace tacho {
namespace {

Graph two_layers() {
  Builder builder("two layers");
  ValueId x = builder.input("x", {2, 16, 12, 12});
  x = builder.convolution("first", x, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  x = builder.relu("relu", x);
  return builder.finish(builder.convolution("second", x, {.channels = 8, .kernel = {1, 1}}));
}

TEST(NativeSteps, NameTheLayerAndItsWork) {
  const Graph graph = two_layers();
  const auto plan = find_engine("native").compile(graph, initialize(graph, 0), {});
  const StepList list = plan->steps();
  ASSERT_EQ(list.layers.size(), 2u);  // the activation is part of the first
  EXPECT_EQ(list.layers[0].name, "first");
  EXPECT_EQ(list.layers[0].flop, 2 * 2 * 16 * 12 * 12 * 16 * 9);
  EXPECT_EQ(list.layers[1].op, "convolution");
  for (const StepInfo& step : list.steps) {
    EXPECT_FALSE(step.kernel.empty());
    EXPECT_GT(step.bytes, 0);
  }
}

TEST(NativeSteps, AreTimedOneBehindTheOther) {
  const Graph graph = two_layers();
  const auto plan = find_engine("native").compile(graph, initialize(graph, 0), {});
  std::vector<StepTime> times(plan->steps().steps.size());
  plan->record_times(times);
  plan->forward();
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_GT(times[i].begin_ms, i == 0 ? 0 : times[i - 1].begin_ms);
    EXPECT_GE(times[i].end_ms, times[i].begin_ms);
  }
  const std::vector<double> ends = {times.front().end_ms, times.back().end_ms};
  plan->record_times({});
  plan->forward();
  EXPECT_EQ(ends, (std::vector{times.front().end_ms, times.back().end_ms}));
}

// Two layers of a DenseNet's block.
// Its parts begin at whole blocks of 8 channels and of 16.
Graph dense_block() {
  Builder builder("dense block");
  ValueId x =
      builder.convolution("stem", builder.input("x", {2, 3, 9, 9}), {.channels = 16, .kernel = {1, 1}});
  for (const char* name : {"one", "two"}) {
    const ValueId y =
        builder.relu(std::string(name) + ".relu", builder.batch_norm(std::string(name) + ".norm", x));
    x = builder.concat(
        std::string(name) + ".concat",
        {x, builder.convolution(name, y, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}})});
  }
  return builder.finish(
      builder.convolution("last", builder.batch_norm("norm", x), {.channels = 8, .kernel = {1, 1}}));
}

TEST(NativeSteps, OfTrainingJoinSliceAndAddUpGradientsWithoutCopies) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  const Graph graph = gradient(dense_block(), Loss::dice);
  const auto plan = find_engine("native").compile(graph, initialize(graph, 0), {.kernel = "direct"});
  const StepList list = plan->steps();
  std::set<std::string> ops;
  for (const StepInfo& step : list.steps) ops.insert(list.layers[step.layer].op);
  EXPECT_TRUE(ops.contains("batch_norm_backward"));
  for (const char* op : {"concat", "slice", "add"}) EXPECT_FALSE(ops.contains(op)) << op;
}

TEST(NativeSteps, OfTrainingFindStatisticsOfAPrefixOnce) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  const Graph graph = gradient(dense_block(), Loss::dice);
  const auto plan = find_engine("native").compile(graph, initialize(graph, 0), {.kernel = "direct"});
  const StepList list = plan->steps();
  std::vector<std::string> of_last_norm;
  for (const StepInfo& step : list.steps) {
    const LayerInfo& layer = list.layers[step.layer];
    if (layer.name == "norm" && !layer.backward) of_last_norm.push_back(step.kernel);
  }
  of_last_norm.resize(2);
  EXPECT_EQ(of_last_norm, (std::vector<std::string>{"known_statistics", "batch_statistics"}));
}

TEST(NativePlan, SaysWhereItsWeightsAreRead) {
  const Graph graph = two_layers(), training = gradient(two_layers(), Loss::dice);
  const auto bytes_of = [](const Graph& of) {
    const auto plan = find_engine("native").compile(of, initialize(of, 0), {.kernel = "onednn"});
    std::vector<size_t> bytes;
    for (const auto& memory : dynamic_cast<const native::NativePlan&>(*plan).weight_memory())
      bytes.push_back(memory.size());
    return bytes;
  };
  const size_t weights = (16 * 16 * 9 + 16 + 8 * 16 + 8) * sizeof(float);
  const auto inferring = bytes_of(graph), trained = bytes_of(training);
  EXPECT_GE(inferring[0], weights);
  EXPECT_GE(trained[1], weights);
  EXPECT_GE(trained[2], weights);
}

// Batch norm is folded into the first one's weights; the second one's are more than is packed at once.
Graph wide_volume(int64_t extent) {
  Builder builder("wide volume");
  ValueId x = builder.input("x", {1, 20, 10, extent, extent});
  x = builder.convolution("first", x, {.channels = 285, .kernel = {3, 3, 3}, .padding = {1, 1, 1}});
  x = builder.relu("relu", builder.batch_norm("norm", x));
  return builder.finish(
      builder.convolution("second", x, {.channels = 285, .kernel = {3, 3, 3}, .padding = {1, 1, 1}}));
}

std::unique_ptr<Plan> winograd_plan(const Graph& graph, bool low_memory) {
  return find_engine("native").compile(graph, initialize(graph, 0),
                                       {.threads = 2, .low_memory = low_memory, .kernel = "winograd"});
}

int64_t estimated_bytes(const Graph& graph, bool low_memory) {
  return find_engine("native").estimate_memory_bytes(
      graph, {.threads = 2, .low_memory = low_memory, .kernel = "winograd"});
}

TEST(NativePlan, InfersTheSameBitsWithLittleMemory) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  const Graph graph = wide_volume(7);
  Tensor input({1, 20, 10, 7, 7}, DType::f32);
  for (size_t i = 0; i < input.values<float>().size(); ++i)
    input.values<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  const auto result = [&](bool low_memory) {
    const auto plan = winograd_plan(graph, low_memory);
    plan->write(graph.inputs[0], input);
    plan->forward();
    return plan->read(graph.outputs[0]);
  };
  const Tensor normal = result(false), low = result(true);
  EXPECT_EQ(std::memcmp(normal.raw(), low.raw(), normal.bytes()), 0);
  EXPECT_LT(winograd_plan(graph, true)->memory_bytes(), winograd_plan(graph, false)->memory_bytes() * 3 / 4);
}

// Reorders are not foreseen.
TEST(NativePlan, HoldsAboutWhatItsPackedWeightsWereEstimatedToTake) {
  if (!blocked::supported()) GTEST_SKIP() << "no AVX2 here";
  for (const auto& [extent, low] : {std::pair{8, false}, {8, true}, {16, false}}) {
    const Graph graph = wide_volume(extent);
    const double ratio = static_cast<double>(winograd_plan(graph, low)->memory_bytes()) /
                         static_cast<double>(estimated_bytes(graph, low));
    EXPECT_GT(ratio, 0.9) << extent << (low ? " low" : "");
    EXPECT_LT(ratio, 1.25) << extent << (low ? " low" : "");
  }
}

// An ELU that turns the order of values around cannot come after a maximum.
TEST(NativeSteps, PoolApartWhatAConvolutionCannotPool) {
  Builder builder("turned");
  const ValueId x = builder.input("x", {2, 16, 12, 13});
  const ValueId y = builder.convolution("conv", x, {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}});
  const Graph graph =
      builder.finish(builder.max_pool("pool", builder.elu("elu", y, -0.5), {.kernel = {2, 2}}));
  const Weights weights = initialize(graph, 0);
  Tensor input({2, 16, 12, 13}, DType::f32);
  for (size_t i = 0; i < input.values<float>().size(); ++i)
    input.values<float>()[i] = static_cast<float>(i * 37 % 101) / 50 - 1;
  const auto result_of = [&](const Engine& engine) {
    const auto plan = engine.compile(graph, clone(weights), {});
    plan->write(graph.inputs[0], input);
    plan->forward();
    return plan->read(graph.outputs[0]);
  };
  const Tensor expected = result_of(reference_engine()), result = result_of(find_engine("native"));
  for (size_t i = 0; i < expected.values<float>().size(); ++i)
    ASSERT_NEAR(result.values<float>()[i], expected.values<float>()[i], 1e-4) << i;
}

}  // namespace
}  // namespace tacho
