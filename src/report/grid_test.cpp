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

const Grid kWide = {.columns = {{"model", false, Importance::most},
                                {"median ms", true, Importance::much},
                                {"update ms", true},
                                {"reason", false}},
                    .rows = {{"resnet18", "45.2 ± 0.3", "4.1", "the load was high"},
                             {"vgg16", "901", "", "needs about 3.2 TiB"}}};

TEST(Grid, LeavesOutTheColumnsThatSayLeastWhereTheWidthIsShort) {
  EXPECT_EQ(render_plain(kWide, 31),
            "model      median ms  update ms\n"
            "--------  ----------  ---------\n"
            "resnet18  45.2 ± 0.3        4.1\n"
            "vgg16            901\n\n"
            "left out for the width: reason;\n--format md shows all\n");
  EXPECT_EQ(render_plain(kWide, 30).substr(0, 21), "model      median ms\n");
}

TEST(Grid, IsWholeWhereItJustFits) {
  EXPECT_EQ(render_plain(kWide, 52), render_plain(kWide));
  EXPECT_NE(render_plain(kWide, 51), render_plain(kWide));
}

TEST(Grid, TurnsASingleRowThatIsTooWideIntoLinesOfNameAndValue) {
  Grid grid = kWide;
  grid.rows = {{"vgg16", "", "4.1", "needs about 3.2 TiB"}};
  EXPECT_EQ(render_plain(grid, 24),
            "model      vgg16\n"
            "update ms  4.1\n"
            "reason     needs about\n"
            "           3.2 TiB\n");
}

TEST(Grid, KeepsItsFirstColumnHoweverNarrow) {
  EXPECT_EQ(render_plain(kWide, 1).substr(0, 27), "model\n--------\nresnet18\nvgg");
}

TEST(Grid, WrapsLongLinesAtBlanksAndLeavesTheOthers) {
  EXPECT_EQ(wrap("one two three\n\nfour\n", 7), "one two\nthree\n\nfour\n");
  EXPECT_EQ(wrap("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrap("one two three", 0), "one two three");
}

TEST(Grid, ALongNameLeavesRoomForTheValues) {
  const Grid grid = {.columns = {{"a"}, {"of a long name"}}, .rows = {{"one two", "3"}}};
  EXPECT_EQ(render_plain(grid, 17), "a         one two\nof a long name  3\n");
}

}  // namespace
}  // namespace tacho
