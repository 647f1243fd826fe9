#include "kernels/split.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

TEST(Split, TheLargestShareIsThatOfTheThreadWithTheMostItems) {
  EXPECT_DOUBLE_EQ(largest_share({.items = 36}, 1), 1);
  EXPECT_DOUBLE_EQ(largest_share({.items = 36}, 2), 0.5);
  EXPECT_DOUBLE_EQ(largest_share({.items = 36}, 64), 1.0 / 36);
  EXPECT_DOUBLE_EQ(largest_share({.items = 65}, 64), 2.0 / 65);
}

TEST(Split, ItemsMayHoldOnePieceMoreThanOthers) {
  EXPECT_DOUBLE_EQ(largest_share({.items = 64, .pieces = 100}, 64), 0.02);
  EXPECT_DOUBLE_EQ(largest_share({.items = 2, .pieces = 3}, 1), 1);
}

TEST(Split, LoopsWaitForTheirSlowestThread) {
  const Split split = {{{.items = 4, .work = 8}, {.items = 1, .work = 2}}};
  EXPECT_DOUBLE_EQ(work_of(split), 10);
  EXPECT_DOUBLE_EQ(longest_work(split, 1), 10);
  EXPECT_DOUBLE_EQ(longest_work(split, 4), 4);
  EXPECT_DOUBLE_EQ(longest_work(split, 64), 4);
}

TEST(Split, FewItemsAreCutUntilThereAreSomeForEachThread) {
  EXPECT_EQ(parts_of_each(36, 100, 1), 1);
  EXPECT_EQ(parts_of_each(36, 100, 2), 1);
  EXPECT_EQ(parts_of_each(36, 100, 64), 9);
  EXPECT_EQ(parts_of_each(36, 3, 64), 3);
  EXPECT_EQ(parts_of_each(192, 100, 64), 1);
}

}  // namespace
}  // namespace tacho
