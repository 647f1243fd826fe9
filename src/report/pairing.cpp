#include "report/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "results/correction.h"

namespace tacho {
namespace {

constexpr std::array kMetrics = {
    Metric{"ms", [](const Record& r) { return r.median_ms ? r.median_ms : r.mean_ms; }, true},
    Metric{"images/s", [](const Record& r) { return corrected_figure(r, "images_per_s", r.images_per_s); }},
    Metric{"iterations/min",
           [](const Record& r) { return corrected_figure(r, "iterations_per_min", r.iterations_per_min); }},
    Metric{"Mvox/s",
           [](const Record& r) { return corrected_figure(r, "output_mvox_per_s", r.output_mvox_per_s); }},
    Metric{"s/epoch",
           [](const Record& r) { return corrected_figure(r, "seconds_per_epoch", r.seconds_per_epoch); },
           true},
};

bool includes(const Record& record, std::string_view what) {
  return std::ranges::find(record.time_includes, what) != record.time_includes.end();
}

// What both know and do not agree on, in words; none where the work is the same.
std::vector<std::string> differences_in_work(const Record& a, const Record& b) {
  std::vector<std::string> differences;
  const auto check = [&](std::string_view what, const auto& of_a, const auto& of_b) {
    using Value = std::remove_cvref_t<decltype(of_a)>;
    if (of_a == of_b || of_a == Value{} || of_b == Value{}) return;
    differences.push_back(fmt::format("{} {} against {}", what, of_a, of_b));
  };
  check("batch", a.batch, b.batch);
  check("total batch", a.batch_total, b.batch_total);
  check("image", a.image, b.image);
  check("precision", a.precision, b.precision);
  check("devices", a.devices, b.devices);
  check("nodes", a.nodes, b.nodes);
  check("classes", a.classes, b.classes);
  check("epochs", a.epoch_count.value_or(0), b.epoch_count.value_or(0));
  return differences;
}

const Metric* shared_metric(const Record& a, const Record& b) {
  const auto found =
      std::ranges::find_if(kMetrics, [&](const Metric& metric) { return metric.of(a) && metric.of(b); });
  return found == kMetrics.end() ? nullptr : &*found;
}

bool same_network(const Record& a, const Record& b) {
  return a.kind == b.kind && a.model == b.model && a.mode == b.mode;
}

// How alike two records of the same work were measured.
int likeness(const Record& a, const Record& b) {
  return 8 * (a.system.name == b.system.name) + 4 * (a.engine == b.engine) + 2 * (a.threads == b.threads) +
         (a.interleaved == b.interleaved);
}

// Of the records of the same network the one that did most nearly the same work, then the most alike, then
// the latest.
const Record* partner_of(const Record& a, std::span<const Record> candidates) {
  const Record* best = nullptr;
  std::pair<std::ptrdiff_t, int> best_fit = {};
  for (const Record& b : candidates) {
    if (!same_network(a, b) || shared_metric(a, b) == nullptr) continue;
    const std::pair fit = {-std::ssize(differences_in_work(a, b)), likeness(a, b)};
    if (best == nullptr || fit >= best_fit) {
      best = &b;
      best_fit = fit;
    }
  }
  return best;
}

// The share of a training pass that is not the update, where the phases are known.
std::optional<double> share_without_update(const Record& r) {
  if (!r.forward_ms || !r.backward_ms || !r.update_ms) return std::nullopt;
  return (*r.forward_ms + *r.backward_ms) / (*r.forward_ms + *r.backward_ms + *r.update_ms);
}

void leave_out_update(Record& record) {
  const double share = *share_without_update(record);
  for (double& sample : record.samples_ms) sample *= share;
  for (auto* figure : {&record.median_ms, &record.mean_ms, &record.median_low_ms, &record.median_high_ms}) {
    if (*figure) **figure *= share;
  }
  std::erase(record.time_includes, "update");
}

// Takes the update out of the one that has it where its phases are known, otherwise refuses.
void even_out_update(ComparedPair& pair) {
  const bool in_a = includes(pair.a, "update");
  if (pair.a.mode != "train" || in_a == includes(pair.b, "update")) return;
  Record& with_update = in_a ? pair.a : pair.b;
  if (!share_without_update(with_update)) {
    pair.refusals.emplace_back("only one of the times includes the update");
    return;
  }
  leave_out_update(with_update);
  pair.marks.emplace_back("without update");
}

void mark_differences(ComparedPair& pair) {
  for (const std::string_view what : {"transfer", "halo", "validation"}) {
    const bool in_a = includes(pair.a, what);
    if (in_a != includes(pair.b, what))
      pair.marks.push_back(fmt::format("{} counted in the {} only", what, in_a ? "first" : "second"));
  }
  for (const Record* record : {&pair.a, &pair.b}) {
    if (!record->known_error.empty()) pair.marks.push_back(record->known_error);
  }
  if (pair.metric->lower_is_better && !pair.a.median_ms != !pair.b.median_ms) {
    pair.marks.emplace_back("a median against a mean");
  }
}

RangedFigure ranged_figure(const Record& record, const Metric& metric) {
  const bool has_samples = metric.unit == kMetrics.front().unit && !record.samples_ms.empty();
  return has_samples ? ranged_time(record.samples_ms) : published_figure(*metric.of(record));
}

Comparison compare_records(const Record& a, const Record& b, const Metric& metric) {
  const bool in_turns = !a.interleaved.empty() && a.interleaved == b.interleaved && a.id != b.id &&
                        !a.samples_ms.empty() && a.samples_ms.size() == b.samples_ms.size();
  if (in_turns && metric.unit == kMetrics.front().unit)
    return compare_interleaved(a.samples_ms, b.samples_ms);
  const RangedFigure of_a = ranged_figure(a, metric), of_b = ranged_figure(b, metric);
  return metric.lower_is_better ? compare_times(of_a, of_b) : compare_rates(of_a, of_b);
}

ComparedPair compared(const Record& a, const Record& b) {
  ComparedPair pair = {.a = a, .b = b, .metric = shared_metric(a, b)};
  pair.refusals = differences_in_work(a, b);
  even_out_update(pair);
  mark_differences(pair);
  pair.a_value = *pair.metric->of(pair.a);
  pair.b_value = *pair.metric->of(pair.b);
  if (pair.a_value <= 0 || pair.b_value <= 0) pair.refusals.emplace_back("too short for the clock");
  if (pair.refusals.empty()) pair.comparison = compare_records(pair.a, pair.b, *pair.metric);
  return pair;
}

}  // namespace

std::vector<ComparedPair> compare_selections(const Selection& a, const Selection& b) {
  std::vector<ComparedPair> pairs;
  for (const Record& record : a.records) {
    if (const Record* partner = partner_of(record, b.records)) pairs.push_back(compared(record, *partner));
  }
  const auto has_fitting_sibling = [&](const ComparedPair& pair) {
    return std::ranges::any_of(pairs, [&](const ComparedPair& other) {
      return other.refusals.empty() && same_network(pair.a, other.a);
    });
  };
  std::vector<ComparedPair> kept;
  std::ranges::copy_if(pairs, std::back_inserter(kept), [&](const ComparedPair& pair) {
    return pair.refusals.empty() || !has_fitting_sibling(pair);
  });
  return kept;
}

std::optional<double> median_without_update_ms(const Record& record) {
  const auto share = share_without_update(record);
  if (!share || !record.median_ms) return std::nullopt;
  return *record.median_ms * *share;
}

}  // namespace tacho
