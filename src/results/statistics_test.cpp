#include "results/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

#include <numeric>
#include <vector>

namespace tacho {
namespace {

std::vector<double> one_to(int n) {
  std::vector<double> values(static_cast<size_t>(n));
  std::iota(values.rbegin(), values.rend(), 1.0);
  return values;
}

TEST(Statistics, MedianOfAnOddAndAnEvenNumber) {
  EXPECT_DOUBLE_EQ(median(std::vector{5.0, 1.0, 3.0}), 3);
  EXPECT_DOUBLE_EQ(median(std::vector{4.0, 1.0, 3.0, 2.0}), 2.5);
  EXPECT_DOUBLE_EQ(median(std::vector{7.0}), 7);
}

TEST(Statistics, MadIgnoresOneOutlier) {
  EXPECT_DOUBLE_EQ(mad(std::vector{1.0, 2.0, 3.0, 4.0, 1000.0}), 1);
  EXPECT_DOUBLE_EQ(mad(std::vector{2.0, 2.0}), 0);
}

TEST(Statistics, MinimumAndMean) {
  EXPECT_DOUBLE_EQ(minimum(std::vector{3.0, 1.0, 2.0}), 1);
  EXPECT_DOUBLE_EQ(mean(std::vector{3.0, 1.0, 2.0}), 2);
}

// The ranks are those of published tables of the sign test's interval: 6..15 of 20, 2..9 of 10, 1..6 of 6.
TEST(Statistics, IntervalTakesTheOrderStatisticsOfTheBinomial) {
  const auto of_20 = median_interval(one_to(20));
  ASSERT_TRUE(of_20.has_value());
  EXPECT_DOUBLE_EQ(of_20->low, 6);
  EXPECT_DOUBLE_EQ(of_20->high, 15);
  const auto of_10 = median_interval(one_to(10));
  ASSERT_TRUE(of_10.has_value());
  EXPECT_DOUBLE_EQ(of_10->low, 2);
  EXPECT_DOUBLE_EQ(of_10->high, 9);
  const auto of_6 = median_interval(one_to(6));
  ASSERT_TRUE(of_6.has_value());
  EXPECT_DOUBLE_EQ(of_6->low, 1);
  EXPECT_DOUBLE_EQ(of_6->high, 6);
}

TEST(Statistics, FiveSamplesHaveNoInterval) { EXPECT_FALSE(median_interval(one_to(5)).has_value()); }

TEST(Statistics, ManySamplesHaveANarrowInterval) {
  const auto interval = median_interval(one_to(2001));
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 1001 - 44, 1);
  EXPECT_NEAR(interval->high, 1001 + 44, 1);
}

TEST(Statistics, TheMeanOfTwentySamplesHasStudentsInterval) {
  const auto interval = mean_interval(one_to(20));  // s = 5.9161, t(19) = 2.0930
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->high - 10.5, 2.0930 * 5.9161 / std::sqrt(20.0), 1e-3);
  EXPECT_NEAR(mean_interval(std::vector<double>{0, 2})->high, 1 + 12.7062, 1e-3);
  EXPECT_NEAR(mean_interval(one_to(5))->high - 3, 2.7764 * std::sqrt(2.5 / 5), 5e-3);
  EXPECT_FALSE(mean_interval(one_to(1)).has_value());
}

TEST(Statistics, DriftIsTheSecondHalfAgainstTheFirst) {
  EXPECT_NEAR(drift_percent(std::vector<double>{10, 10, 10, 10, 11, 11, 11, 11}).value(), 10, 1e-9);
  EXPECT_NEAR(drift_percent(std::vector<double>{10, 10, 10, 10, 99, 9, 9, 9, 9}).value(), -10, 1e-9);
  EXPECT_FALSE(drift_percent(one_to(7)).has_value());
}

TEST(Statistics, OutliersLieFarBeyondTheNoise) {
  EXPECT_EQ(count_outliers(std::vector<double>{10, 11, 9, 10, 11, 9, 40}), 1);
  EXPECT_EQ(count_outliers(one_to(20)), 0);
  EXPECT_EQ(count_outliers(std::vector<double>(5, 1.0)), 0);
}

TEST(Statistics, PercentileNeedsSamplesBeyondIt) {
  EXPECT_FALSE(percentile(one_to(99), 0.95).has_value());
  EXPECT_DOUBLE_EQ(percentile(one_to(100), 0.95).value(), 95);
  EXPECT_FALSE(percentile(one_to(1), 0.5).has_value());
}

}  // namespace
}  // namespace tacho
