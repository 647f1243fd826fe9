#include "session/suites.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "bench/runner.h"

namespace tacho {
namespace {

TEST(Suites, EveryCaseOfEverySuiteCanRun) {
  for (const Suite& suite : suites()) {
    if (suite.cases == nullptr) continue;
    const auto cells = suite.cases(2);
    EXPECT_FALSE(cells.empty()) << suite.name;
    for (const Case& cell : cells) EXPECT_NO_THROW(check_case(cell)) << cell.model;
  }
}

TEST(Suites, EveryTrainingOfEverySuiteCanBeBuilt) {
  for (const Suite& suite : suites()) {
    ASSERT_NE(suite.cases == nullptr, suite.trainings == nullptr) << suite.name;
    if (suite.trainings == nullptr) continue;
    EXPECT_FALSE(suite.trainings(2).empty()) << suite.name;
    for (const Recipe& recipe : suite.trainings(2)) EXPECT_NO_THROW(build_network(recipe)) << recipe.model;
  }
}

TEST(Suites, AScaleTakesTrainingImages) {
  const Recipe recipe = {.batch = 32};
  EXPECT_FALSE(scaled({recipe}, 1, 50'000)[0].subset);
  EXPECT_EQ(scaled({recipe}, 0.01, 50'000)[0].subset, 500);
  EXPECT_EQ(scaled({recipe}, 1e-6, 50'000)[0].subset, 64);
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
