#include "results/comparison.h"

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

double half_drift(std::span<const double> samples) {
  return std::abs(drift_percent(samples).value_or(0)) / 200;
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

Comparison compare_times(std::span<const double> a_ms, std::span<const double> b_ms) {
  assert(!a_ms.empty() && !b_ms.empty());
  const double ratio = median(b_ms) / median(a_ms);
  const auto a = median_interval(a_ms, kConfidenceOfEach), b = median_interval(b_ms, kConfidenceOfEach);
  if (!a || !b || a->low <= 0 || b->low <= 0) return judged(ratio, {});
  const double widen = (1 + half_drift(a_ms)) * (1 + half_drift(b_ms));
  return judged(ratio, ConfidenceInterval{b->low / a->high / widen, b->high / a->low * widen});
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

Comparison compare_published(const ConfidenceInterval& a_speed, const ConfidenceInterval& b_speed) {
  const double ratio = std::sqrt(a_speed.low * a_speed.high / (b_speed.low * b_speed.high));
  return judged(ratio, ConfidenceInterval{a_speed.low / b_speed.high, a_speed.high / b_speed.low});
}

ConfidenceInterval published_interval(double speed) {
  return {speed / (1 + kPublishedShare), speed * (1 + kPublishedShare)};
}

}  // namespace tacho
