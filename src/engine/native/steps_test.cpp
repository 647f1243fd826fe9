#include <gtest/gtest.h>

#include <algorithm>

#include "engine/engines.h"
#include "graph/builder.h"
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

}  // namespace
}  // namespace tacho
