#include "base/load.h"

#include <gtest/gtest.h>

#include "base/fake_system.h"

namespace tacho {
namespace {

TEST(Load, IsTheShareOfTimeBetweenTwoReadings) {
  const LoadInfo load = load_between("cpu  100 0 50 800 0 0 0 10 40 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n",
                                     "cpu  120 0 60 840 10 0 0 30 60 0\ncpu0 9 9 9 9 9 9 9 9 9 9\n");
  EXPECT_DOUBLE_EQ(load.steal_percent, 20);
  EXPECT_DOUBLE_EQ(load.busy_percent, 30);
}

TEST(Load, IsNothingWhenNoTimeHasPassed) {
  const LoadInfo load = load_between("cpu  1 2 3 4 5 6 7 8 0 0\n", "cpu  1 2 3 4 5 6 7 8 0 0\n");
  EXPECT_EQ(load.steal_percent, 0);
  EXPECT_EQ(load.busy_percent, 0);
}

TEST(Load, UnderstandsKernelsWithoutStealTime) {
  EXPECT_DOUBLE_EQ(load_between("cpu 0 0 0 0\n", "cpu 5 0 0 5\n").busy_percent, 50);
}

TEST(Load, HasTheAverageOfTheLastMinute) {
  FakeSystem system;
  system.with("proc/loadavg", "1.98 0.88 0.36 4/100 8380\n");
  EXPECT_DOUBLE_EQ(load_info(0, system.root()).load_average_1min, 1.98);
}

TEST(Load, OfThisMachineIsAPercentage) {
  const LoadInfo load = load_info(50);
  EXPECT_GE(load.busy_percent, 0);
  EXPECT_LE(load.busy_percent, 100);
  EXPECT_GE(load.steal_percent, 0);
  EXPECT_LE(load.steal_percent, 100);
}

}  // namespace
}  // namespace tacho
