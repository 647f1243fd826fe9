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

// Ten pairs of each kind.
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

TEST_P(BothWays, IsWrongInAtMostFivePercentOfFortyPairsManyTimes) {
  constexpr int kRounds = 100, kPairsOfAKind = 10;
  for (const Truth& truth : kTruths) {
    auto count = answers(truth, GetParam(), kRounds * kPairsOfAKind);
    const int wrong = count[Answer::faster] + (truth.slowdown == 1 ? count[Answer::slower] : 0);
    EXPECT_LE(wrong, kRounds * kPairsOfAKind / 20) << truth.slowdown << " " << truth.noise;
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

INSTANTIATE_TEST_SUITE_P(Comparison, BothWays, testing::Values(compare_times, compare_interleaved));

TEST(Comparison, TheRatioSaysHowManyTimesFasterTheFirstIs) {
  const std::vector<double> a(10, 50.0), b(10, 100.0);
  EXPECT_DOUBLE_EQ(compare_times(a, b).ratio, 2);
  EXPECT_EQ(compare_times(a, b).answer, Answer::faster);
}

TEST(Comparison, FewSamplesTellNothing) {
  const std::vector<double> a = {1, 1, 1}, b = {9, 9, 9};
  EXPECT_EQ(compare_times(a, b).answer, Answer::cannot_tell);
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
  EXPECT_EQ(compare_published({100, 100}, published_interval(98)).answer, Answer::cannot_tell);
  EXPECT_EQ(compare_published({100, 100}, published_interval(50)).answer, Answer::faster);
  EXPECT_NEAR(compare_published({99, 101}, published_interval(50)).ratio, 2, 1e-3);
}

}  // namespace
}  // namespace tacho
