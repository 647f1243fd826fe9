#include "results/outliers.h"

#include <algorithm>
#include <cmath>

#include "results/statistics.h"

namespace tacho {
namespace {

constexpr double kMadToDeviation = 1.4826;  // of a normal distribution
constexpr double kMedianToMean = 1.2533;    // how much less sure a median is
constexpr size_t kHostsThatSpread = 4;      // with fewer, one that is slow makes up too much of the spread

// Of one sample around its host's median, as a share: that of the noisiest host.
double noise_share(const HostFigures& figures) {
  std::vector<double> shares;
  for (const auto& samples : figures.samples) {
    const double center = median(samples);
    if (center > 0) shares.push_back(kMadToDeviation * mad(samples) / center);
  }
  return shares.empty() ? 0 : *std::ranges::max_element(shares);
}

}  // namespace

std::vector<HostStanding> stand(const HostFigures& figures) {
  std::vector<double> values;
  for (const auto& samples : figures.samples) values.push_back(median(samples));
  const double center = median(values);
  const auto rounds = static_cast<double>(figures.samples.front().size());
  const double of_median = kMedianToMean * noise_share(figures) / std::sqrt(rounds);
  const double of_hosts =
      values.size() < kHostsThatSpread || center <= 0 ? 0 : kMadToDeviation * mad(values) / center;
  const double limit = std::max(kBehindPercent, 100 * kBehindDeviations * std::hypot(of_median, of_hosts));
  std::vector<HostStanding> standings;
  for (const double value : values)
    standings.push_back({value, center > 0 ? 100 * (1 - value / center) : 0, limit});
  return standings;
}

}  // namespace tacho
