#include "results/statistics.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace tacho {
namespace {

constexpr size_t kBeyond = 5;
constexpr size_t kLeastForDrift = 8;
constexpr double kOutlierDeviations = 3.5;
constexpr double kDeviationPerMad = 1.4826;  // of a normal distribution

std::vector<double> sorted(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  std::ranges::sort(copy);
  return copy;
}

// The 97.5 % quantile of Student's t, by Hill's expansion around the normal one; within 0.2 % from 4 degrees
// on.
double student_t_975(size_t degrees) {
  constexpr double kNormal = 1.959964;
  constexpr double kFew[] = {12.7062, 4.3027, 3.1824};
  if (degrees <= 3) return kFew[degrees - 1];
  const double z = kNormal, n = static_cast<double>(degrees);
  return z + (std::pow(z, 3) + z) / (4 * n) +
         (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * n * n) +
         (3 * std::pow(z, 7) + 19 * std::pow(z, 5) + 17 * std::pow(z, 3) - 15 * z) / (384 * std::pow(n, 3));
}

// P(exactly k of n fair coins show heads).
double fair_coins(size_t n, size_t k) {
  const double total = static_cast<double>(n), heads = static_cast<double>(k);
  const double log_ways = std::lgamma(total + 1) - std::lgamma(heads + 1) - std::lgamma(total - heads + 1);
  return std::exp(log_ways - total * std::log(2.0));
}

}  // namespace

double median(std::span<const double> samples) {
  assert(!samples.empty());
  const auto values = sorted(samples);
  const size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double mad(std::span<const double> samples) {
  const double center = median(samples);
  std::vector<double> deviations(samples.begin(), samples.end());
  for (double& value : deviations) value = std::abs(value - center);
  return median(deviations);
}

double minimum(std::span<const double> samples) {
  assert(!samples.empty());
  return *std::ranges::min_element(samples);
}

double mean(std::span<const double> samples) {
  assert(!samples.empty());
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

std::optional<ConfidenceInterval> median_interval(std::span<const double> samples, double confidence) {
  const double most = (1 - confidence) / 2;  // on each side
  const size_t n = samples.size();
  // The true median lies below the (k+1)-th smallest sample if at most k samples lie below it.
  size_t rank = 0;
  double tail = 0;
  while (rank < n && tail + fair_coins(n, rank) <= most) tail += fair_coins(n, rank++);
  if (rank == 0) return std::nullopt;
  const auto values = sorted(samples);
  return ConfidenceInterval{values[rank - 1], values[n - rank]};
}

std::optional<ConfidenceInterval> mean_interval(std::span<const double> samples) {
  const size_t n = samples.size();
  if (n < 2) return std::nullopt;
  const double center = mean(samples);
  double squares = 0;
  for (const double sample : samples) squares += (sample - center) * (sample - center);
  const double error = std::sqrt(squares / static_cast<double>(n - 1) / static_cast<double>(n));
  const double half = student_t_975(n - 1) * error;
  return ConfidenceInterval{center - half, center + half};
}

std::optional<double> drift_percent(std::span<const double> samples) {
  if (samples.size() < kLeastForDrift) return std::nullopt;
  const size_t half = samples.size() / 2;
  const double first = median(samples.first(half)), second = median(samples.last(half));
  return first > 0 ? std::optional(100 * (second / first - 1)) : std::nullopt;
}

int count_outliers(std::span<const double> samples) {
  const double center = median(samples), limit = kOutlierDeviations * kDeviationPerMad * mad(samples);
  if (limit == 0) return 0;
  return static_cast<int>(
      std::ranges::count_if(samples, [&](double sample) { return std::abs(sample - center) > limit; }));
}

std::optional<double> percentile(std::span<const double> samples, double share) {
  assert(share > 0 && share < 1);
  const size_t rank = static_cast<size_t>(std::ceil(share * static_cast<double>(samples.size()) - 1e-9));
  if (rank < 1 || samples.size() - rank < kBeyond) return std::nullopt;
  return sorted(samples)[rank - 1];
}

}  // namespace tacho
