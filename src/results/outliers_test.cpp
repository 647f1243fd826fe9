#include "results/outliers.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace tacho {
namespace {

// `rounds` samples around each host's speed, with normal noise of `noise`.
HostFigures hosts_with(const std::vector<double>& speeds, double noise, uint64_t seed, size_t rounds = 5) {
  HostFigures figures = {.what = "x", .unit = "GB/s"};
  for (size_t host = 0; host < speeds.size(); ++host) {
    std::vector<float> draws(rounds);
    Random(seed).stream(host).fill_normal(draws, 0, 1);
    auto& samples = figures.samples.emplace_back();
    for (const float draw : draws) samples.push_back(speeds[host] * (1 + noise * draw));
  }
  return figures;
}

int outliers_in(const HostFigures& figures) {
  int count = 0;
  for (const HostStanding& standing : stand(figures)) count += standing.is_outlier() ? 1 : 0;
  return count;
}

TEST(Outliers, AHostThatIsAThirdSlowerIsNamed) {
  for (const size_t hosts : {3, 4, 5, 16}) {
    std::vector<double> speeds(hosts, 100);
    speeds[1] = 67;
    const auto standings = stand(hosts_with(speeds, 0.01, 7));
    for (size_t host = 0; host < hosts; ++host) EXPECT_EQ(standings[host].is_outlier(), host == 1) << hosts;
    EXPECT_NEAR(standings[1].behind_percent, 33, 3);
  }
}

TEST(Outliers, HealthyHostsAreNotNamed) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const double noise : {0.001, 0.03, 0.1})
      EXPECT_EQ(outliers_in(hosts_with(std::vector<double>(4, 100), noise, seed)), 0) << seed << " " << noise;
  }
}

TEST(Outliers, AFasterHostIsNoOutlier) {
  EXPECT_EQ(outliers_in(hosts_with({100, 100, 100, 150}, 0.01, 3)), 0);
}

TEST(Outliers, NoiseWidensTheLimit) {
  const double quiet = stand(hosts_with(std::vector<double>(4, 100), 0.001, 1))[0].limit_percent,
               noisy = stand(hosts_with(std::vector<double>(4, 100), 0.2, 1))[0].limit_percent;
  EXPECT_DOUBLE_EQ(quiet, 10);
  EXPECT_GT(noisy, 25);
}

}  // namespace
}  // namespace tacho
