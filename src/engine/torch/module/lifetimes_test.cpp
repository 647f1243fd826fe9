#include "engine/torch/module/lifetimes.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tacho::torch_engine {
namespace {

constexpr int kConvolution = 0, kRelu = 1, kAgain = 2, kSum = 3;

// relu(conv(x)) + relu(relu(conv(x)))
Graph graph() {
  Builder b("small");
  const ValueId x = b.input("input", {1, 2, 4, 4});
  const ValueId y = b.relu("relu", b.convolution("conv", x, {.channels = 2, .kernel = {1, 1}}));
  return b.finish(b.add("sum", b.relu("again", y), y));
}

TEST(Lifetimes, OnlyOfWhatNobodyNeedsMayMemoryBeUsedAgain) {
  const std::vector<NodeLifetimes> lifetimes = find_lifetimes(graph());
  EXPECT_FALSE(lifetimes[kConvolution].may_overwrite);  // the caller's input
  EXPECT_TRUE(lifetimes[kRelu].may_overwrite);
  EXPECT_FALSE(lifetimes[kAgain].may_overwrite);  // the sum reads it too
  EXPECT_FALSE(lifetimes[kSum].may_overwrite);    // autograd keeps what a ReLU gave
}

TEST(Lifetimes, EndWithTheLastUse) {
  const Graph small = graph();
  const std::vector<NodeLifetimes> lifetimes = find_lifetimes(small);
  EXPECT_TRUE(lifetimes[kConvolution].last_used.empty());
  EXPECT_EQ(lifetimes[kRelu].last_used, small.nodes[kConvolution].outputs);
  EXPECT_TRUE(lifetimes[kAgain].last_used.empty());
  EXPECT_EQ(lifetimes[kSum].last_used.size(), 2U);
}

}  // namespace
}  // namespace tacho::torch_engine
