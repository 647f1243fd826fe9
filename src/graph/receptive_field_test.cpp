#include "graph/receptive_field.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tacho {
namespace {

TEST(ReceptiveField, GrowsByTheKernelOfEachLayer) {
  Builder b("g");
  ValueId x = b.input("input", {1, 1, 16, 16});
  x = b.convolution("a", x, {.channels = 1, .kernel = {3, 5}, .padding = {1, 2}});
  x = b.convolution("b", x, {.channels = 1, .kernel = {3, 5}, .padding = {1, 2}});
  const auto field = receptive_field(b.finish(x));
  ASSERT_TRUE(field);
  EXPECT_EQ((*field)[0].before, 2);
  EXPECT_EQ((*field)[0].after, 2);
  EXPECT_EQ((*field)[1].size(), 9);
}

// Down by 3 and up again: what a position sees depends on where in its group of three it lies.
TEST(ReceptiveField, TakesTheWorstPhaseOfTheStrideGrid) {
  Builder b("g");
  ValueId x = b.input("input", {1, 1, 27});
  x = b.max_pool("pool", x, {.kernel = {4}, .stride = {3}, .padding = {1}});
  x = b.upsample("up", x, {3});
  const Graph graph = b.finish(x);
  EXPECT_EQ(required_input(graph, 0, {3, 3}), (Interval{2, 5}));
  EXPECT_EQ(required_input(graph, 0, {5, 5}), (Interval{2, 5}));
  const auto field = receptive_field(graph);
  ASSERT_TRUE(field);
  EXPECT_EQ((*field)[0].before, 3);
  EXPECT_EQ((*field)[0].after, 2);
}

TEST(ReceptiveField, OfJoinedBranchesIsTheWiderOne) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 1, 16});
  const ValueId wide = b.convolution("wide", x, {.channels = 1, .kernel = {7}, .padding = {3}});
  const ValueId narrow = b.convolution("narrow", x, {.channels = 1, .kernel = {3}, .padding = {1}});
  const auto field = receptive_field(b.finish(b.concat("join", {wide, narrow})));
  ASSERT_TRUE(field);
  EXPECT_EQ((*field)[0].size(), 7);
}

TEST(ReceptiveField, IsEverythingBehindAGlobalPooling) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 1, 16});
  EXPECT_FALSE(receptive_field(b.finish(b.global_average_pool("pool", x))));
}

}  // namespace
}  // namespace tacho
