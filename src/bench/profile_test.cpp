#include "bench/profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

Case profiled_case(Mode mode) {
  return {.model = "squeezenet1_1",
          .mode = mode,
          .execution = {.engine = "native"},
          .batch = 2,
          .image = {64, 64},
          .warmup = 1,
          .repeat = 3};
}

std::optional<ProfileMeasurement> profile_of(const Case& cell, const RunControl& control) {
  return profile_case(cell, build_workload(cell), control);
}

TEST(Profile, HasASampleOfEveryLayerAndOfTheWholeInEachTimedPass) {
  const auto profile = profile_of(profiled_case(Mode::infer), {});
  ASSERT_TRUE(profile);
  EXPECT_THAT(profile->pass.passes.samples_ms, SizeIs(3));
  ASSERT_GT(profile->layers.size(), 26u);  // its convolutions
  for (const LayerTimes& layer : profile->layers) {
    EXPECT_THAT(layer.samples_ms, SizeIs(3)) << layer.name;
    EXPECT_FALSE(layer.kernel.empty()) << layer.name;
    EXPECT_EQ(layer.phase, "forward") << layer.name;
  }
}

// Also where a part of it is computed twice, as the first convolution of a U-Net is.
TEST(Profile, LayersFollowEachOtherAndMakeUpTheWorkOfTheNetwork) {
  Case cell = profiled_case(Mode::train);
  cell.model = "unet3d_lite";
  cell.image = {8, 16, 16};
  const auto profile = profile_of(cell, {});
  ASSERT_TRUE(profile);
  int64_t flop = 0;
  double end_ms = 0;
  for (const LayerTimes& layer : profile->layers) {
    EXPECT_GE(layer.begin_ms, end_ms) << layer.name;
    EXPECT_GE(layer.end_ms, layer.begin_ms) << layer.name;
    end_ms = layer.end_ms;
    flop += layer.flop;
  }
  EXPECT_EQ(flop, profile->pass.flop);
}

TEST(Profile, TrainingEndsWithTheUpdate) {
  const auto profile = profile_of(profiled_case(Mode::train), {});
  ASSERT_TRUE(profile);
  const LayerTimes& last = profile->layers.back();
  EXPECT_EQ(last.phase, "update");
  EXPECT_EQ(last.kernel, "sgd");
  EXPECT_EQ(last.bytes, 1'235'496 * 4 * 5);
  EXPECT_THAT(last.samples_ms, SizeIs(3));
  EXPECT_EQ(profile->layers.front().phase, "forward");
  EXPECT_EQ((profile->layers.end() - 2)->phase, "backward");
}

TEST(Profile, SimulatesEveryStepOfOursAndNoneOfTheLibrarys) {
  Case cell = profiled_case(Mode::train);
  cell.execution.threads = 2;
  const auto profile = profile_case(cell, build_workload(cell), {}, 64);
  ASSERT_TRUE(profile && profile->simulation);
  EXPECT_EQ(profile->simulation->threads, 64);
  int ours = 0, convolutions = 0;
  for (const SimulatedStep& step : profile->simulation->steps) {
    EXPECT_THAT(step.samples_ms, SizeIs(3)) << step.layer;
    if (!step.split) continue;
    ++ours;
    convolutions += step.kernel.starts_with("winograd") || step.kernel.starts_with("direct") ? 1 : 0;
    EXPECT_GE(step.split->largest_share, 0.999 / 64) << step.layer << " " << step.kernel;
    EXPECT_LE(step.split->largest_share, step.split->measured_share * 1.001)
        << step.layer << " " << step.kernel;
    EXPECT_GE(step.split->measured_share, 0.499) << step.layer << " " << step.kernel;
    EXPECT_FALSE(step.split->loops.empty());
  }
  EXPECT_GT(ours, 0);
  EXPECT_EQ(profile->simulation->steps.back().kernel, "sgd");
  EXPECT_FALSE(profile_of(cell, {})->simulation);
}

TEST(Profile, RefusesAnEngineThatDoesNotTellItsSteps) {
  Case cell = profiled_case(Mode::infer);
  cell.execution = {.engine = "null"};
  try {
    check_profile(cell);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("null"));
    EXPECT_THAT(error.what(), HasSubstr("native"));
  }
}

TEST(Profile, StopsBetweenPasses) {
  int seen = 0;
  const RunControl control = {.progress =
                                  [&](int, int passes) {
                                    EXPECT_EQ(passes, 7);
                                    ++seen;
                                  },
                              .should_stop = [&] { return seen == 4; }};
  EXPECT_FALSE(profile_of(profiled_case(Mode::infer), control));
  EXPECT_EQ(seen, 4);
}

}  // namespace
}  // namespace tacho
