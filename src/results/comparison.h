#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "results/statistics.h"

// Pure functions of samples: is A faster than B?
namespace tacho {

enum class Answer { faster, slower, same, cannot_tell };

std::string_view name_of(Answer answer);

// `ratio` is how many times faster A is than B. A is faster or slower where the whole interval lies on one
// side of 1, the same where it lies within 2 % of it, and where neither holds nobody can tell.
struct Comparison {
  double ratio = 1;
  std::optional<ConfidenceInterval> interval = {};  // 95 %; nothing where the samples are too few
  Answer answer = Answer::cannot_tell;
};

// Times measured one after the other. The interval holds whatever their distributions are, and is widened by
// the drift seen within each: what moved during one measurement may have moved between the two.
Comparison compare_times(std::span<const double> a_ms, std::span<const double> b_ms);

// Times of passes that took turns: each is compared with its neighbour, so that drift cancels.
Comparison compare_interleaved(std::span<const double> a_ms, std::span<const double> b_ms);

// A figure with the range in which it lies.
struct RangedFigure {
  double value = 0;
  ConfidenceInterval range = {};
};

// A time as compare_times() takes it: the median with its interval. Where the samples are too few for one,
// from the fastest to the slowest, widened by 5 %.
RangedFigure ranged_time(std::span<const double> samples_ms);
// A figure without samples is taken to be within 5 %, the spread that published ones commonly show.
RangedFigure published_figure(double value);

Comparison compare_times(const RangedFigure& a_ms, const RangedFigure& b_ms);
Comparison compare_rates(const RangedFigure& a, const RangedFigure& b);

}  // namespace tacho
