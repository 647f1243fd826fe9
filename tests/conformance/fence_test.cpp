#include <gtest/gtest.h>

#include <limits>

#include "agreement.h"
#include "engine/reference/reference_engine.h"
#include "graph/builder.h"
#include "training_run.h"

namespace tacho::conformance {
namespace {

constexpr double kTolerance = 2e-5;

// Its bounds are an input, and it is for inference alone: it is no row of the cases of ops.
class FenceOnEngine : public testing::TestWithParam<EngineUnderTest> {};

struct FencedGraph {
  Graph graph;
  ValueId bounds;
};

// Alone, or between convolutions whose channels do not fill their last block.
FencedGraph fenced(const Shape& input, double outside, bool between_convolutions) {
  Builder b("fenced");
  const auto axes = static_cast<int64_t>(input.size()) - 2;
  const ConvolutionOptions options = {.channels = 13,
                                      .kernel = Extents(static_cast<size_t>(axes), 3),
                                      .padding = Extents(static_cast<size_t>(axes), 1)};
  ValueId x = b.input("input", input);
  const ValueId bounds = b.input("bounds", {2, axes}, DType::i64);
  if (between_convolutions) x = b.convolution("before", x, options);
  x = b.fence("fence", x, bounds, outside);
  if (between_convolutions) x = b.convolution("behind", x, options);
  return {b.finish(x), bounds};
}

struct Range {
  int64_t begin, end;
};

std::vector<Range> ranges_of(int64_t extent) {
  return {
      {1, extent - 2},                       // inside
      {0, extent - 1},                       // from the first cell on
      {2, extent},                           // to the last one
      {0, extent},                           // all of them
      {-3, extent + 5},                      // beyond both ends
      {-4, 2},          {extent - 1, 1000},  // beyond one
      {2, 2},           {3, 1},              // none
      {extent, 1000},   {-7, -2},            // none of these
  };
}

// The `number`-th of the ranges along the first axis, the next one along the next.
Tensor bounds_of(const Shape& input, size_t number) {
  const Extents extents = spatial(input);
  Tensor bounds({2, static_cast<int64_t>(extents.size())}, DType::i64);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const std::vector<Range> ranges = ranges_of(extents[axis]);
    const Range& range = ranges[(number + axis) % ranges.size()];
    bounds.values<int64_t>()[axis] = range.begin;
    bounds.values<int64_t>()[extents.size() + axis] = range.end;
  }
  return bounds;
}

// One plan for all of them: each pass reads the bounds anew.
void expect_agreement(const EngineUnderTest& engine, const FencedGraph& of, const Shape& input) {
  const Material material = make_material(of.graph, 15);
  const auto plan = prepared(engine, of.graph, material),
             truth = prepared(reference_engine(), of.graph, material);
  for (size_t number = 0; number < ranges_of(input.back()).size(); ++number) {
    const Tensor bounds = bounds_of(input, number);
    for (Plan* one : {plan.get(), truth.get()}) {
      one->write(of.graph.inputs[0], material.inputs[0]);
      one->write(of.bounds, bounds);
      one->forward();
    }
    EXPECT_TRUE(agrees(truth->read(of.graph.outputs[0]), plan->read(of.graph.outputs[0]), kTolerance))
        << to_string(input) << ", bounds " << number;
  }
}

TEST_P(FenceOnEngine, InfersLikeTheReference) {
  for (const Shape& input : {Shape{2, 11, 19}, Shape{2, 11, 7, 9}, Shape{1, 11, 5, 7, 9}}) {
    for (const bool between_convolutions : {false, true}) {
      expect_agreement(GetParam(), fenced(input, 0, between_convolutions), input);
      expect_agreement(GetParam(), fenced(input, -2.5, between_convolutions), input);
    }
  }
}

// As it stands before max pooling: what is outside never wins. The ReLU makes the results comparable.
TEST_P(FenceOnEngine, PoolsLikeTheReferenceWithTheLowestNumberOutside) {
  const Shape input = {1, 11, 5, 7, 9};
  Builder b("pooled");
  const ValueId x = b.input("input", input), bounds = b.input("bounds", {2, 3}, DType::i64);
  const ConvolutionOptions options = {.channels = 13, .kernel = {3, 3, 3}, .padding = {1, 1, 1}};
  const ValueId y =
      b.fence("fence", b.convolution("conv", x, options), bounds, std::numeric_limits<float>::lowest());
  const FencedGraph of = {b.finish(b.relu("relu", b.max_pool("pool", y, {.kernel = {2, 2, 2}}))), bounds};
  expect_agreement(GetParam(), of, input);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FenceOnEngine);
INSTANTIATE_TEST_SUITE_P(Ops, FenceOnEngine, testing::ValuesIn(engines_with_each_kernel()),
                         [](const auto& test) { return test.param.name(); });

}  // namespace
}  // namespace tacho::conformance
