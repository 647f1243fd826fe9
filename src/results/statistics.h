#pragma once

#include <optional>
#include <span>

// Pure functions of samples, which need not be sorted. All but the optional ones need at least one sample.
namespace tacho {

double median(std::span<const double> samples);

// Median absolute deviation from the median.
double mad(std::span<const double> samples);

double minimum(std::span<const double> samples);
double mean(std::span<const double> samples);

struct ConfidenceInterval {
  double low = 0, high = 0;
};

// Covers the true median with at least this probability, whatever the distribution: two order statistics
// chosen by the binomial distribution. Nothing where no two samples are far enough apart: below 6 for 95 %.
std::optional<ConfidenceInterval> median_interval(std::span<const double> samples, double confidence = 0.95);

// Covers the true mean with a probability of about 95 %. Nothing for fewer than 2 samples.
std::optional<ConfidenceInterval> mean_interval(std::span<const double> samples);

// By how many per cent the median of the second half of the samples, in their order, lies above that of the
// first. Nothing for fewer than 8 samples.
std::optional<double> drift_percent(std::span<const double> samples);

// How many samples lie further from the median than noise would explain: 3.5 standard deviations, estimated
// from the MAD.
int count_outliers(std::span<const double> samples);

// The smallest sample that at least `share` of them do not exceed. Nothing unless 5 samples lie beyond it.
std::optional<double> percentile(std::span<const double> samples, double share);

}  // namespace tacho
