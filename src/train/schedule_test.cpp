#include "train/schedule.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace tacho {
namespace {

TEST(Schedule, ConstantStays) {
  const Schedule schedule = {ScheduleKind::constant, 0.5, 10};
  EXPECT_EQ(learning_rate(schedule, 0), 0.5);
  EXPECT_EQ(learning_rate(schedule, 9), 0.5);
}

TEST(Schedule, StepFallsAtAHalfAndThreeQuarters) {
  const Schedule schedule = {ScheduleKind::step, 1, 8};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 4), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 6), 0.01);
}

TEST(Schedule, CosineIsHalfInTheMiddle) {
  const Schedule schedule = {ScheduleKind::cosine, 0.2, 100};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.2);
  EXPECT_NEAR(learning_rate(schedule, 50), 0.1, 1e-12);
  EXPECT_LT(learning_rate(schedule, 99), 1e-4);
}

TEST(Schedule, OneCycleIsThatOfPyTorch) {
  // [s.get_last_lr()[0] for s in OneCycleLR(SGD(p, lr=1), max_lr=1.0, total_steps=10)]
  const double expected[] = {0.04, 0.52, 1.0, 0.95048463};
  const Schedule schedule = {ScheduleKind::one_cycle, 1, 10};
  for (int step = 0; step < 4; ++step)
    EXPECT_NEAR(learning_rate(schedule, step), expected[step], 1e-6) << step;
  EXPECT_NEAR(learning_rate(schedule, 9), 4e-6, 1e-9);
}

TEST(Schedule, WarmUpRisesToTheRate) {
  const Schedule schedule = {ScheduleKind::cosine, 1, 100, 4};
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 0), 0.25);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 3), 1);
  EXPECT_DOUBLE_EQ(learning_rate(schedule, 4), 1);
}

TEST(Schedule, OfOneStepHasARate) {
  for (const ScheduleKind kind :
       {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine, ScheduleKind::one_cycle}) {
    EXPECT_EQ(learning_rate({kind, 0.5, 1}, 0), 0.5);
    EXPECT_EQ(parse_schedule(name_of(kind)), kind);
  }
  EXPECT_THROW(parse_schedule("linear"), UserError);
}

}  // namespace
}  // namespace tacho
