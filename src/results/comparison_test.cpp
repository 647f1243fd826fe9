#include "results/comparison.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <vector>

namespace tacho {
namespace {

constexpr int kSamples = 20;

std::vector<double> times(double center_ms, double noise, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(center_ms * std::exp(noise * normal(random)));
  return samples;
}

struct Truth {
  double slowdown, noise;  // of A, that is: B's time is 100 ms
};

constexpr Truth kTruths[] = {{1.0, 0.01}, {1.03, 0.01}, {1.2, 0.01}, {1.03, 0.08}};

using Compare = Comparison (*)(std::span<const double>, std::span<const double>);

std::map<Answer, int> answers(const Truth& truth, Compare compare, int pairs) {
  std::map<Answer, int> count;
  std::mt19937 random(7);
  for (int i = 0; i < pairs; ++i) {
    const auto a = times(100 * truth.slowdown, truth.noise, random), b = times(100, truth.noise, random);
    ++count[compare(a, b).answer];
  }
  return count;
}

class BothWays : public testing::TestWithParam<Compare> {};

TEST_P(BothWays, IsWrongInAtMostFivePercentOfThePairs) {
  constexpr int kPairs = 1000;  // of each kind
  for (const Truth& truth : kTruths) {
    auto count = answers(truth, GetParam(), kPairs);
    const int wrong = count[Answer::faster] + count[truth.slowdown == 1 ? Answer::slower : Answer::same];
    EXPECT_LE(wrong, kPairs / 20) << truth.slowdown << " " << truth.noise;
  }
}

TEST_P(BothWays, SeesWhatIsThere) {
  EXPECT_EQ(answers({1.2, 0.01}, GetParam(), 100)[Answer::slower], 100);
  EXPECT_EQ(answers({1 / 1.2, 0.01}, GetParam(), 100)[Answer::faster], 100);
  EXPECT_GT(answers({1.03, 0.01}, GetParam(), 100)[Answer::slower], 90);
  EXPECT_GT(answers({1.0, 0.005}, GetParam(), 100)[Answer::same], 90);
}

TEST_P(BothWays, DoesNotGuessInNoise) {
  EXPECT_GT(answers({1.03, 0.2}, GetParam(), 100)[Answer::cannot_tell], 90);
}

INSTANTIATE_TEST_SUITE_P(Comparison, BothWays,
                         testing::Values(Compare(compare_times), Compare(compare_interleaved)));

TEST(Comparison, TheRatioSaysHowManyTimesFasterTheFirstIs) {
  const std::vector<double> a(10, 50.0), b(10, 100.0);
  EXPECT_DOUBLE_EQ(compare_times(std::span<const double>(a), b).ratio, 2);
  EXPECT_EQ(compare_times(a, b).answer, Answer::faster);
}

TEST(Comparison, FewSamplesTellOnlyWhatTheirSpreadTells) {
  const std::vector<double> quick = {1, 1.01, 1.02}, slow = {9, 9.1, 9.2}, shaky = {0.9, 1, 40};
  EXPECT_EQ(compare_times(quick, slow).answer, Answer::faster);
  EXPECT_EQ(compare_times(shaky, slow).answer, Answer::cannot_tell);
}

TEST(Comparison, TheRatioLiesInItsInterval) {
  std::mt19937 random(3);
  for (int i = 0; i < 50; ++i) {
    const auto a = times(100, 0.3, random), b = times(120, 0.3, random);
    for (const Compare compare : {Compare(compare_times), Compare(compare_interleaved)}) {
      const Comparison result = compare(a, b);
      EXPECT_GE(result.ratio, result.interval->low);
      EXPECT_LE(result.ratio, result.interval->high);
    }
  }
}

TEST(Comparison, DriftWithinOneMeasurementMakesItUnsure) {
  std::vector<double> drifting, steady(20, 102.0);
  for (int i = 0; i < 20; ++i) drifting.push_back(i < 10 ? 100 : 108);
  EXPECT_EQ(compare_times(drifting, steady).answer, Answer::cannot_tell);
}

TEST(Comparison, TurnsCancelADriftThatBothShare) {
  std::vector<double> a, b;
  for (int i = 0; i < 20; ++i) {
    a.push_back(100 + 5 * i);
    b.push_back(1.1 * a.back());
  }
  EXPECT_EQ(compare_interleaved(a, b).answer, Answer::faster);
  EXPECT_EQ(compare_times(a, b).answer, Answer::cannot_tell);
}

TEST(Comparison, APublishedFigureIsTakenToBeWithinFivePercent) {
  EXPECT_EQ(compare_rates(published_figure(100), published_figure(98)).answer, Answer::cannot_tell);
  EXPECT_EQ(compare_rates(published_figure(100), published_figure(50)).answer, Answer::faster);
  EXPECT_EQ(compare_times(published_figure(100), published_figure(50)).answer, Answer::slower);
}

}  // namespace
}  // namespace tacho
