#include "base/random.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

namespace tacho {
namespace {

using Floats = std::vector<float>;
constexpr size_t kMany = 200'000;

struct Moments {
  double mean = 0, variance = 0, skewness = 0, correlation = 0;  // correlation of neighbours
};

Moments moments_of(const Floats& values) {
  const auto count = static_cast<double>(values.size());
  Moments m;
  for (const float value : values) m.mean += value / count;
  for (const float value : values) m.variance += std::pow(value - m.mean, 2) / count;
  for (size_t i = 0; i + 1 < values.size(); ++i) {
    m.skewness += std::pow((values[i] - m.mean) / std::sqrt(m.variance), 3) / count;
    m.correlation += (values[i] - m.mean) * (values[i + 1] - m.mean) / m.variance / count;
  }
  return m;
}

Floats normal_values(const Random& random, size_t count) {
  Floats values(count);
  random.fill_normal(values, 0, 1);
  return values;
}

// The standard error of these figures over kMany values is about 0.002 to 0.006.
TEST(Random, UniformValuesAreEvenlySpread) {
  Floats values(kMany);
  Random(1).fill_uniform(values, -1, 3);
  const Moments m = moments_of(values);
  EXPECT_NEAR(m.mean, 1, 0.015);
  EXPECT_NEAR(m.variance, 16.0 / 12, 0.02);
  EXPECT_NEAR(m.correlation, 0, 0.01);
  EXPECT_GE(std::ranges::min(values), -1);
  EXPECT_LT(std::ranges::max(values), 3);
}

TEST(Random, NormalValuesHaveTheirMeanAndDeviation) {
  Floats values(kMany);
  Random(2).fill_normal(values, 5, 2);
  const Moments m = moments_of(values);
  EXPECT_NEAR(m.mean, 5, 0.03);
  EXPECT_NEAR(m.variance, 4, 0.08);
  EXPECT_NEAR(m.skewness, 0, 0.03);
  EXPECT_NEAR(m.correlation, 0, 0.01);
  const auto within = std::ranges::count_if(values, [](float v) { return std::abs(v - 5) < 2; });
  EXPECT_NEAR(static_cast<double>(within) / kMany, 0.6827, 0.006);
}

TEST(Random, TruncatedNormalValuesStayInside) {
  Floats values(kMany);
  Random(3).fill_truncated_normal(values, 1, -2, 2);
  EXPECT_GE(std::ranges::min(values), -2);
  EXPECT_LE(std::ranges::max(values), 2);
  const Moments m = moments_of(values);
  EXPECT_NEAR(m.mean, 0, 0.01);
  EXPECT_NEAR(m.variance, 0.7737, 0.01);
}

TEST(Random, IsTheSameForEveryNumberOfThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Floats alone = normal_values(Random(4), 1001);
  omp_set_num_threads(3);
  const Floats together = normal_values(Random(4), 1001);
  omp_set_num_threads(before);
  EXPECT_EQ(alone, together);
}

TEST(Random, IsTheSameOnEveryMachine) { EXPECT_EQ(Random(1337).bits(7), 16695460722673335307u); }

TEST(Random, DiffersBySeedAndStream) {
  const Random random(5);
  std::set<Floats> distinct;
  for (const Random& generator :
       {random, Random(6), random.stream("conv1.weight"), random.stream("conv1.bias"), random.stream(0),
        random.stream(1), Random(6).stream("conv1.weight")}) {
    distinct.insert(normal_values(generator, 4));
  }
  EXPECT_EQ(distinct.size(), 7u);
}

TEST(Random, StreamsAreUncorrelated) {
  const Floats a = normal_values(Random(7).stream("a"), kMany),
               b = normal_values(Random(7).stream("b"), kMany);
  double product = 0;
  for (size_t i = 0; i < kMany; ++i) product += a[i] * b[i] / static_cast<double>(kMany);
  EXPECT_NEAR(product, 0, 0.01);
}

TEST(Random, StreamsRepeat) { EXPECT_EQ(Random(8).stream("x").bits(3), Random(8).stream("x").bits(3)); }

}  // namespace
}  // namespace tacho
