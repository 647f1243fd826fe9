#include <gtest/gtest.h>

#include <algorithm>

#include "base/clock.h"
#include "base/random.h"
#include "engine/engines.h"
#include "engine/native/passes.h"
#include "graph/builder.h"
#include "graph/gradient.h"
#include "models/initialize.h"

namespace tacho::native {
namespace {

constexpr int64_t kEverything = int64_t{1} << 40, kAFewImages = 600 << 10;

// Eight images whose early layers read and write 2 MiB each; then one with large weights.
Graph network() {
  Builder b("network");
  const ConvolutionOptions same = {.channels = 16, .kernel = {3, 3}, .padding = {1, 1}};
  const ConvolutionOptions pointwise = {.channels = 16, .kernel = {1, 1}};
  ValueId x = b.relu("relu1", b.convolution("conv1", b.input("x", {8, 16, 48, 40}), same));
  x = b.relu("relu2", b.add("add", x, b.convolution("conv2", x, same)));
  x = b.concat("cat", {b.convolution("left", x, pointwise), b.convolution("right", x, same)});
  x = b.max_pool("pool", b.convolution("conv3", x, same), {.kernel = {2, 2}, .stride = {2, 2}});
  x = b.max_pool("pool2", x, {.kernel = {4, 4}, .stride = {4, 4}});
  return b.finish(b.linear("head", b.flatten("flat", x), {.features = 512}));
}

Program in_chunks(const Graph& graph, int64_t cached_bytes, int64_t fewest_images = 1) {
  Program program = lower(graph);
  for (const Pass& pass : passes()) pass.run(program);
  take_batch_in_chunks(program, cached_bytes, fewest_images);
  return program;
}

int stretch_of(const Program& program, std::string_view layer) {
  return std::ranges::find(program.instructions, layer, &Instruction::name)->stretch;
}

TEST(BatchInChunks, KeepsWhatFitsIntoACacheThere) {
  const Program program = in_chunks(network(), kAFewImages);
  ASSERT_EQ(program.stretches.size(), 1u);
  const Stretch& stretch = program.stretches[0];
  EXPECT_EQ(stretch.chunks, 4);
  EXPECT_EQ(program.shape(stretch.whole_input)[0], 8);
  EXPECT_EQ(program.shape(stretch.input)[0], 2);
  EXPECT_EQ(program.shape(stretch.result)[0], 2);
  EXPECT_EQ(program.shape(stretch.whole_result)[0], 8);
  EXPECT_EQ(stretch_of(program, "conv1"), 0);
  EXPECT_EQ(program.instructions[0].inputs[0], stretch.input);
}

TEST(BatchInChunks, ReadsLargeWeightsOnce) {
  const Program program = in_chunks(network(), kAFewImages);
  EXPECT_EQ(stretch_of(program, "head"), -1);
  EXPECT_EQ(program.shape(program.outputs[0])[0], 8);
}

TEST(BatchInChunks, LeavesEnoughImagesForEachThread) {
  const Program program = in_chunks(network(), 2 * kAFewImages, 4);
  ASSERT_EQ(program.stretches.size(), 1u);
  EXPECT_EQ(program.stretches[0].chunks, 2);
  EXPECT_TRUE(in_chunks(network(), kAFewImages, 9).stretches.empty());
}

TEST(BatchInChunks, LeavesWhatFitsAnyway) {
  EXPECT_TRUE(in_chunks(network(), kEverything).stretches.empty());
}

TEST(BatchInChunks, LeavesTrainingAlone) {
  EXPECT_TRUE(in_chunks(gradient(network(), Loss::dice), kAFewImages).stretches.empty());
}

std::unique_ptr<Plan> compiled(const Graph& graph, int64_t cached_bytes) {
  return find_engine("native").compile(graph, initialize(graph, 0), {.cached_bytes = cached_bytes});
}

TEST(BatchInChunks, ComputesTheSame) {
  const Graph graph = network();
  const auto whole = compiled(graph, kEverything), parts = compiled(graph, kAFewImages);
  Tensor x(graph.shape(graph.inputs[0]), DType::f32);
  for (const uint64_t seed : {1, 2}) {
    Random(seed).fill_normal(x.values<float>(), 0, 1);
    for (Plan* plan : {whole.get(), parts.get()}) {
      plan->write(graph.inputs[0], x);
      plan->forward();
    }
    const Tensor expected = whole->read(graph.outputs[0]), result = parts->read(graph.outputs[0]);
    const auto values = result.values<float>(), wanted = expected.values<float>();
    for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], wanted[i], 1e-4) << i;
  }
}

TEST(BatchInChunks, TakesLessMemory) {
  const Graph graph = network();
  EXPECT_LT(compiled(graph, kAFewImages)->memory_bytes(), compiled(graph, kEverything)->memory_bytes());
}

TEST(BatchInChunks, AddsUpTheTimesOfAllChunks) {
  const auto plan = compiled(network(), kAFewImages);
  std::vector<StepTime> times(plan->steps().steps.size());
  plan->record_times(times);
  const double begin_ms = now_ms();
  plan->forward();
  const double taken_ms = now_ms() - begin_ms;
  double sum_ms = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    EXPECT_LE(times[i].begin_ms, times[i].end_ms);
    EXPECT_GE(times[i].begin_ms, i == 0 ? begin_ms : times[i - 1].end_ms);
    sum_ms += times[i].end_ms - times[i].begin_ms;
  }
  EXPECT_LE(sum_ms, taken_ms);
}

int64_t bytes_of(const StepList& list, std::string_view layer) {
  int64_t bytes = 0;
  for (const StepInfo& step : list.steps) {
    if (list.layers[step.layer].name == layer) bytes += step.bytes;
  }
  return bytes;
}

TEST(BatchInChunks, CountsTheBytesOfAllChunks) {
  const Graph graph = network();
  const StepList whole = compiled(graph, kEverything)->steps(), parts = compiled(graph, kAFewImages)->steps();
  EXPECT_GE(bytes_of(parts, "conv1"), bytes_of(whole, "conv1"));  // weights are read once a chunk
  const int64_t input_bytes = elements(graph.shape(graph.inputs[0])) * int64_t{sizeof(float)};
  EXPECT_EQ(bytes_of(parts, "x"), 2 * input_bytes);
}

}  // namespace
}  // namespace tacho::native
