#include "bench/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

using ::testing::Each;
using ::testing::Ge;
using ::testing::HasSubstr;

Case small_case(Mode mode) {
  return {.model = "resnet18",
          .mode = mode,
          .execution = {.engine = "null"},
          .batch = 2,
          .image = {32, 32},
          .warmup = 2,
          .repeat = 3};
}

TEST(Runner, KeepsEveryTimedPassAndNoWarmUp) {
  const Measurement result = run_case(small_case(Mode::infer), {});
  ASSERT_EQ(result.status, Status::measured) << result.reason;
  EXPECT_EQ(result.passes.samples_ms.size(), 3u);
  EXPECT_THAT(result.passes.samples_ms, Each(Ge(0)));
  EXPECT_TRUE(result.compile_ms.has_value());
}

TEST(Runner, TimesThreePhasesOfATrainingPassThatMakeUpTheWhole) {
  const Measurement result = run_case(small_case(Mode::train), {});
  ASSERT_EQ(result.passes.samples_ms.size(), 3u) << result.reason;
  const std::vector<PassParts>& parts = result.passes.parts.at(0);
  ASSERT_EQ(parts.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_GT(parts[i].update_ms, 0);
    EXPECT_NEAR(result.passes.samples_ms[i], parts[i].total_ms(), 1e-9);
  }
}

TEST(Runner, CellsThatTakeTurnsHaveTheirOwnSamplesAndFailures) {
  std::vector<Case> cells = {small_case(Mode::infer), small_case(Mode::train), small_case(Mode::infer)};
  cells[1].repeat = 5;
  cells[2].weights = "/there/is/no/such/file.safetensors";
  const std::vector<Measurement> results = run_interleaved(cells, {});
  EXPECT_EQ(results[0].passes.samples_ms.size(), 3u);
  EXPECT_EQ(results[1].passes.samples_ms.size(), 5u);
  EXPECT_EQ(results[1].passes.parts.at(0).size(), 5u);
  EXPECT_EQ(results[2].status, Status::failed);
}

TEST(Runner, SaysWhatACellNeedsThatCannotFit) {
  Case cell = small_case(Mode::infer);
  cell.batch = 40'000'000;
  const Measurement result = run_case(cell, {});
  EXPECT_EQ(result.status, Status::out_of_memory);
  EXPECT_THAT(result.reason, HasSubstr("needs about"));
  EXPECT_THAT(result.reason, HasSubstr("are available"));
}

TEST(Runner, TurnsAnErrorIntoAFailedCell) {
  Case cell = small_case(Mode::infer);
  cell.weights = "/there/is/no/such/file.safetensors";
  const Measurement result = run_case(cell, {});
  EXPECT_EQ(result.status, Status::failed);
  EXPECT_THAT(result.reason, HasSubstr("file.safetensors"));
}

TEST(Runner, StopsBetweenPassesAndKeepsNoHalfCell) {
  int passes_seen = 0;
  const RunControl control = {.progress = [&](int, int) { ++passes_seen; },
                              .should_stop = [&] { return passes_seen == 4; }};
  const Measurement result = run_case(small_case(Mode::infer), control);
  EXPECT_EQ(result.status, Status::interrupted);
  EXPECT_EQ(passes_seen, 4);
  EXPECT_TRUE(result.passes.samples_ms.empty());
}

TEST(Runner, ReportsEveryPassOnceInOrder) {
  std::vector<int> seen;
  const RunControl control = {.progress = [&](int pass, int passes) {
    EXPECT_EQ(passes, 5);
    seen.push_back(pass);
  }};
  run_case(small_case(Mode::infer), control);
  EXPECT_THAT(seen, ::testing::ElementsAre(0, 1, 2, 3, 4));
}

TEST(Runner, CountsNoWorkForAnEngineThatComputesNothing) {
  EXPECT_EQ(run_case(small_case(Mode::infer), {}).flop, 0);
  Case cell = small_case(Mode::infer);
  cell.execution = {.engine = "reference"};
  cell.batch = 1;
  cell.warmup = 0;
  cell.repeat = 1;
  EXPECT_GT(run_case(cell, {}).flop, 0);
}

// What rank 0 measures where each rank is a thread.
Measurement run_on_threads(Case cell, int ranks) {
  Measurement result;
  cell.execution.devices = ranks;
  on_thread_ranks(ranks, [&](Communicator& all) {
    World world(all.first(ranks), "test");
    const Measurement own = run_case(cell, {.world = &world});
    if (world.is_first()) result = own;
  });
  return result;
}

Case shared_case(Mode mode) {
  Case cell = small_case(mode);
  cell.execution.engine = "reference";
  cell.model = "squeezenet1_1";
  cell.batch = 1;
  cell.warmup = 0;
  return cell;
}

TEST(RunnerOnDevices, PartsOfEveryDeviceAddUpToThePass) {
  for (const Mode mode : {Mode::infer, Mode::train}) {
    const Measurement result = run_on_threads(shared_case(mode), 3);
    ASSERT_EQ(result.status, Status::measured) << result.reason;
    ASSERT_EQ(result.passes.parts.size(), 3u);
    for (const auto& parts : result.passes.parts) {
      for (size_t pass = 0; pass < parts.size(); ++pass)
        EXPECT_NEAR(parts[pass].total_ms(), result.passes.samples_ms[pass], 1e-6);
    }
  }
}

TEST(RunnerOnDevices, CountTheWorkOfAll) {
  const Case cell = shared_case(Mode::infer);
  EXPECT_EQ(run_on_threads(cell, 2).flop, 2 * run_case(cell, {}).flop);
}

TEST(RunnerOnDevices, AScatteredBatchNeedsNotDivide) {
  Case cell = shared_case(Mode::infer);
  cell.execution.parallel = "scatter";
  cell.batch_total = 5;
  cell.batch = 2;
  const Measurement result = run_on_threads(cell, 3);
  ASSERT_EQ(result.status, Status::measured) << result.reason;
  // Three images to others, and the logits of three images back.
  EXPECT_EQ(result.passes.bytes_moved, 3 * (3 * 32 * 32 + 1000) * 4);
}

TEST(RunnerOnDevices, WhatFailsOnOneFailsOnAll) {
  Case cell = shared_case(Mode::train);
  cell.weights = "/there/is/no/such/file.safetensors";  // which rank 0 alone reads
  EXPECT_THAT(run_on_threads(cell, 2).reason, HasSubstr("file.safetensors"));
}

TEST(CheckCase, RefusesWhatCanNeverRun) {
  const Case good = small_case(Mode::infer);
  EXPECT_NO_THROW(check_case(good));
  Case cell = good;
  cell.execution.parallel = "allreduce";
  EXPECT_THAT([&] { check_case(cell); },
              ::testing::ThrowsMessage<UserError>(
                  "--parallel allreduce: devices share inference by replicas or scatter"));
  cell = good;
  cell.execution.engine = "steam";
  EXPECT_THROW(check_case(cell), UserError);
  cell = good;
  cell.execution.precision = "bf16";
  EXPECT_THAT([&] { check_case(cell); },
              ::testing::ThrowsMessage<UserError>("--precision 'bf16': engine null has f32 on cpu"));
  cell = good;
  cell.model = "unet3d";
  cell.image = {8, 100, 100};
  EXPECT_THROW(check_case(cell), UserError);
}

TEST(CheckCase, ExpectsTrainingToTakeAboutThreeTimesAsLong) {
  const double infer = check_case(small_case(Mode::infer)).work,
               train = check_case(small_case(Mode::train)).work;
  EXPECT_GT(train, 2.5 * infer);
  EXPECT_LT(train, 3.5 * infer);
}

TEST(CheckCase, ExpectsNoWorkOfACellThatCannotFit) {
  Case cell = small_case(Mode::infer);
  cell.execution.engine = "native";
  cell.batch = 40'000'000;
  EXPECT_EQ(check_case(cell).work, 0);
}

}  // namespace
}  // namespace tacho
