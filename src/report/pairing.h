#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/comparison.h"
#include "results/selection.h"

namespace tacho {

// One quantity in which records are compared: the first that both have.
struct Metric {
  std::string_view unit;
  std::optional<double> (*of)(const Record&);
  bool lower_is_better = false;
  bool counts_all_devices = false;  // they share the work of this figure: it is not that of one step
};

// Two records of the same work, or of work that differs so much that comparing them would mislead.
struct ComparedPair {
  Record a, b;
  size_t a_at = 0, b_at = 0;  // where they stand in their selections
  const Metric* metric = nullptr;
  double a_value = 0, b_value = 0;
  Comparison comparison = {};
  std::vector<std::string> refusals = {};  // why there is no comparison; empty where there is one
  std::vector<std::string> marks =
      {};  // what differs in the definitions, was evened out or is known to be wrong
};

// Each cell of `a` with the cell of `b` that did the same work, preferably on the same system, with the same
// engine, the same threads and otherwise the same means. Networks that only have partners of other work are
// refused, with the reason.
std::vector<ComparedPair> compare_selections(const Selection& a, const Selection& b);

// Every quantity there is, the one that is preferred first.
std::span<const Metric> metrics();

// The same training time without the optimizer's update, as many sources publish it; nothing where the phases
// are not known.
std::optional<double> median_without_update_ms(const Record& record);

}  // namespace tacho
