#include "session/suites.h"

#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "bench/runner.h"
#include "engine/engines.h"

namespace tacho {
namespace {

const SuiteMachine kTwoCores = {.threads = [](int devices) { return std::max(1, 2 / devices); }};

TEST(Suites, EveryCaseOfEverySuiteCanRun) {
  for (const Suite& suite : suites()) {
    if (suite.cases == nullptr) continue;
    const auto cells = suite.cases(kTwoCores);
    EXPECT_FALSE(cells.empty()) << suite.name;
    for (const Case& cell : cells) EXPECT_NO_THROW(check_case(cell)) << cell.model;
  }
}

TEST(Suites, EveryTrainingOfEverySuiteCanBeBuilt) {
  for (const Suite& suite : suites()) {
    ASSERT_EQ(
        (suite.cases != nullptr) + (suite.trainings != nullptr) + suite.compares_hosts + suite.runs_volumes,
        1)
        << suite.name;
    if (suite.trainings == nullptr) continue;
    EXPECT_FALSE(suite.trainings(kTwoCores).empty()) << suite.name;
    for (const Recipe& recipe : suite.trainings(kTwoCores))
      EXPECT_NO_THROW(build_network(recipe)) << recipe.model;
  }
}

TEST(Suites, RunOnAsManyDevicesAsThereAreCoresForUnlessAskedForMore) {
  SuiteMachine machine = kTwoCores;
  EXPECT_EQ(find_suite("scaling").cases(machine).size(), 2u);
  machine.devices = {1, 8};
  const auto cells = find_suite("scaling").cases(machine);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[1].execution.devices, 8);
  EXPECT_EQ(cells[0].execution.threads, cells[1].execution.threads);  // a device is the same device alone
  machine.devices = {3};
  EXPECT_THROW(find_suite("scaling").cases(machine), UserError);
}

TEST(Suites, CifarIsLearntByEveryFastEngine) {
  std::set<std::pair<std::string, std::string>> found, expected;
  for (const Recipe& recipe : find_suite("cifar").trainings(kTwoCores))
    found.emplace(recipe.model, recipe.execution.engine);
  for (const Engine* engine : engines()) {
    if (!engine->computes() || !engine->is_fast()) continue;
    for (const char* model : {"resnet50", "inception_v3"}) expected.emplace(model, engine->name());
  }
  EXPECT_EQ(found, expected);
}

TEST(Suites, TheGridSharesEveryTotalBatchOut) {
  SuiteMachine machine = kTwoCores;
  machine.devices = {1, 3};
  const auto cells = find_suite("grid").cases(machine);
  ASSERT_EQ(cells.size(), 16u);
  EXPECT_EQ(images_per_pass(cells[1]), 16);
  EXPECT_EQ(cells[1].batch, 6);
  EXPECT_EQ(cells[0].batch_total, 0);         // it divides
  EXPECT_EQ(scaled(cells, 0.05).size(), 6u);  // up to 64 of 2048
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
