#include "results/comparison.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

namespace tacho {
namespace {

constexpr double kConfidence = 0.95;
constexpr double kSameShare = 0.02;
constexpr double kPublishedShare = 0.05;

// Two intervals that miss with half the probability each miss together with no more than the whole.
constexpr double kConfidenceOfEach = 1 - (1 - kConfidence) / 2;

Answer answer_of(const std::optional<ConfidenceInterval>& interval) {
  if (!interval) return Answer::cannot_tell;
  if (interval->low > 1 / (1 + kSameShare) && interval->high < 1 + kSameShare) return Answer::same;
  if (interval->low > 1) return Answer::faster;
  if (interval->high < 1) return Answer::slower;
  return Answer::cannot_tell;
}

Comparison judged(double ratio, const std::optional<ConfidenceInterval>& interval) {
  return {ratio, interval, answer_of(interval)};
}

}  // namespace

std::string_view name_of(Answer answer) {
  switch (answer) {
    case Answer::faster: return "faster";
    case Answer::slower: return "slower";
    case Answer::same: return "same";
    case Answer::cannot_tell: return "can't tell";
  }
  return "?";
}

RangedFigure ranged_time(std::span<const double> samples_ms) {
  assert(!samples_ms.empty());
  const double drift = 1 + std::abs(drift_percent(samples_ms).value_or(0)) / 200;
  if (const auto interval = median_interval(samples_ms, kConfidenceOfEach)) {
    return {median(samples_ms), {interval->low / drift, interval->high * drift}};
  }
  const auto [low, high] = std::ranges::minmax(samples_ms);
  return {median(samples_ms), {low / (1 + kPublishedShare), high * (1 + kPublishedShare)}};
}

RangedFigure published_figure(double value) {
  return {value, {value / (1 + kPublishedShare), value * (1 + kPublishedShare)}};
}

Comparison compare_rates(const RangedFigure& a, const RangedFigure& b) {
  if (a.range.low <= 0 || b.range.low <= 0) return {};
  return judged(a.value / b.value,
                ConfidenceInterval{a.range.low / b.range.high, a.range.high / b.range.low});
}

Comparison compare_times(const RangedFigure& a_ms, const RangedFigure& b_ms) {
  return compare_rates(b_ms, a_ms);
}

Comparison compare_times(std::span<const double> a_ms, std::span<const double> b_ms) {
  return compare_times(ranged_time(a_ms), ranged_time(b_ms));
}

Comparison compare_interleaved(std::span<const double> a_ms, std::span<const double> b_ms) {
  assert(!a_ms.empty() && a_ms.size() == b_ms.size());
  std::vector<double> ratios;
  for (size_t i = 0; i < a_ms.size(); ++i) {
    if (a_ms[i] <= 0) return {};
    ratios.push_back(b_ms[i] / a_ms[i]);
  }
  return judged(median(ratios), median_interval(ratios, kConfidence));
}

}  // namespace tacho
