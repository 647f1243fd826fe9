#include "bench/suites.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "bench/sweep.h"

namespace tacho {
namespace {

TEST(Suites, EveryCaseOfEverySuiteCanRun) {
  for (const Suite& suite : suites()) {
    const auto cells = suite.cases(2);
    EXPECT_FALSE(cells.empty()) << suite.name;
    for (const Case& cell : cells) EXPECT_NO_THROW(check_case(cell)) << cell.model;
  }
}

TEST(Suites, AScaleTakesPassesAndNothingElse) {
  const Case cell = {.model = "resnet18", .batch = 16, .warmup = 5, .repeat = 20};
  const Case quarter = scaled({cell}, 0.25)[0], least = scaled({cell}, 0.001)[0],
             whole = scaled({cell}, 1)[0];
  EXPECT_EQ(quarter.repeat, 5);
  EXPECT_EQ(quarter.warmup, 1);
  EXPECT_EQ(quarter.batch, 16);
  EXPECT_EQ(least.repeat, 3);
  EXPECT_EQ(whole.repeat, 20);
}

TEST(Suites, AnUnknownNameIsRefused) { EXPECT_THROW(find_suite("slow"), UserError); }

}  // namespace
}  // namespace tacho
