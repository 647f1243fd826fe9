#include "graph/cost.h"

#include <gtest/gtest.h>

#include "graph/builder.h"
#include "graph/gradient.h"

namespace tacho {
namespace {

Graph one_convolution(int64_t groups) {
  Builder b("g");
  const ValueId x = b.input("input", {2, 4, 5, 5});
  return b.finish(b.convolution("conv", x, {.channels = 6, .kernel = {3, 3}, .groups = groups}));
}

TEST(Cost, AMultiplyAddIsTwoFlop) {
  EXPECT_EQ(cost_of(one_convolution(1)).flop, 2 * (2 * 6 * 3 * 3) * (4 * 3 * 3));
  EXPECT_EQ(cost_of(one_convolution(2)).flop, 2 * (2 * 6 * 3 * 3) * (2 * 3 * 3));
}

TEST(Cost, BytesAreEveryInputAndOutputOnce) {
  const int64_t x = 2 * 4 * 5 * 5, weight = 6 * 4 * 3 * 3, bias = 6, y = 2 * 6 * 3 * 3;
  EXPECT_EQ(cost_of(one_convolution(1)).bytes, 4 * (x + weight + bias + y));
}

TEST(Cost, EachBackwardHalfOfAConvolutionCostsAsMuchAsForward) {
  const Graph forward = one_convolution(2);
  const Graph training = gradient(forward, Loss::dice, {.of_input = true});
  EXPECT_EQ(cost_of(training).flop, 3 * cost_of(forward).flop);
}

TEST(Cost, RunningStatisticsAreNoParameters) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 7, 2, 2});
  EXPECT_EQ(parameter_count(b.finish(b.batch_norm("norm", x))), 14);
}

}  // namespace
}  // namespace tacho
