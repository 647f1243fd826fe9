#include "report/grid.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

const Grid kGrid = {.columns = {{"name"}, {"ms", true}}, .rows = {{"a", "1.5 ± 0.1"}, {"longer", "20"}}};

TEST(Grid, PlainTextAlignsByCharactersNotBytes) {
  EXPECT_EQ(render_plain(kGrid),
            "name           ms\n"
            "------  ---------\n"
            "a       1.5 ± 0.1\n"
            "longer         20\n");
}

TEST(Grid, MarkdownMarksNumbersAsRightAligned) {
  EXPECT_EQ(render_markdown(kGrid),
            "| name   |        ms |\n"
            "|:-------|----------:|\n"
            "| a      | 1.5 ± 0.1 |\n"
            "| longer |        20 |\n");
}

TEST(Grid, MarkdownEscapesPipes) {
  const Grid grid = {.columns = {{"x"}}, .rows = {{"a|b|c"}}};
  EXPECT_NE(render_markdown(grid).find("a\\|b\\|c"), std::string::npos);
}

TEST(Grid, PlainLinesEndWithoutBlanks) {
  const Grid grid = {.columns = {{"x"}, {"reason"}}, .rows = {{"a", ""}}};
  EXPECT_EQ(render_plain(grid), "x  reason\n-  ------\na\n");
}

}  // namespace
}  // namespace tacho
