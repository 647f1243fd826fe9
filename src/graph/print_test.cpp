#include "graph/print.h"

#include <gtest/gtest.h>

#include "graph/builder.h"

namespace tacho {
namespace {

TEST(Print, DescribesWhatDiffersFromTheDefault) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 4, 9, 9});
  const ValueId y = b.convolution(
      "conv", x, {.channels = 8, .kernel = {3, 1}, .stride = {2, 2}, .padding = {1, 0}, .groups = 2});
  const Graph graph = b.finish(y);
  EXPECT_EQ(describe(graph, graph.nodes[0]), "convolution 8 3x1 stride 2 padding 1x0 groups 2");
}

TEST(Print, ListsOneLinePerNode) {
  Builder b("g");
  const ValueId x = b.input("input", {1, 4, 9, 9});
  const std::string text = to_string(b.finish(b.relu("act", b.batch_norm("norm", x))));
  EXPECT_EQ(std::ranges::count(text, '\n'), 3);
  EXPECT_NE(text.find("1x4x9x9"), std::string::npos);
}

}  // namespace
}  // namespace tacho
