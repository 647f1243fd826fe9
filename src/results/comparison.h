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

// Speeds without samples are taken to be within 5 %, the spread that published figures commonly show. `a` and
// `b` give the interval that is known, or a point.
Comparison compare_published(const ConfidenceInterval& a_speed, const ConfidenceInterval& b_speed);
ConfidenceInterval published_interval(double speed);

}  // namespace tacho
