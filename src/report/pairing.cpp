#include "report/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <tuple>

namespace tacho {
namespace {

constexpr std::array kMetrics = {
    Metric{"ms", [](const Record& r) { return r.median_ms ? r.median_ms : r.mean_ms; }, true},
    Metric{"images/s", [](const Record& r) { return r.images_per_s; }},
    Metric{"iterations/min", [](const Record& r) { return r.iterations_per_min; }},
    Metric{"Mvox/s", [](const Record& r) { return r.output_mvox_per_s; }},
};

bool includes(const Record& record, std::string_view what) {
  return std::ranges::find(record.time_includes, what) != record.time_includes.end();
}

// What both know and do not agree on, in words; empty where the work is the same.
std::string difference_in_work(const Record& a, const Record& b) {
  std::string differences;
  const auto check = [&](std::string_view what, const auto& of_a, const auto& of_b) {
    using Value = std::remove_cvref_t<decltype(of_a)>;
    if (of_a == of_b || of_a == Value{} || of_b == Value{}) return;
    differences += fmt::format("{}{} {} against {}", differences.empty() ? "" : ", ", what, of_a, of_b);
  };
  check("batch", a.batch, b.batch);
  check("total batch", a.batch_total, b.batch_total);
  check("image", a.image, b.image);
  check("precision", a.precision, b.precision);
  check("devices", a.devices, b.devices);
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
  return 4 * (a.engine == b.engine) + 2 * (a.threads == b.threads) + (a.interleaved == b.interleaved);
}

// Of the same work the most alike and latest, or where there is none any of the same network.
const Record* partner_of(const Record& a, std::span<const Record> candidates) {
  const Record* best = nullptr;
  std::tuple<bool, int> best_fit = {};
  for (const Record& b : candidates) {
    if (!same_network(a, b) || shared_metric(a, b) == nullptr) continue;
    const std::tuple fit = {difference_in_work(a, b).empty(), likeness(a, b)};
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
    pair.refused = "only one of the times includes the update";
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
  if (pair.metric->lower_is_better && !pair.a.median_ms != !pair.b.median_ms) {
    pair.marks.emplace_back("a median against a mean");
  }
}

// Of the speed, so that higher is better.
ConfidenceInterval speed_interval(const Record& record, const Metric& metric) {
  const double value = *metric.of(record);
  const double speed = metric.lower_is_better ? 1 / value : value;
  if (metric.lower_is_better && record.median_low_ms && *record.median_low_ms > 0) {
    return {1 / *record.median_high_ms, 1 / *record.median_low_ms};
  }
  return published_interval(speed);
}

Comparison compare_records(const Record& a, const Record& b, const Metric& metric) {
  const bool sampled = metric.lower_is_better && !a.samples_ms.empty() && !b.samples_ms.empty();
  if (!sampled) return compare_published(speed_interval(a, metric), speed_interval(b, metric));
  const bool in_turns = !a.interleaved.empty() && a.interleaved == b.interleaved;
  return in_turns && a.samples_ms.size() == b.samples_ms.size()
             ? compare_interleaved(a.samples_ms, b.samples_ms)
             : compare_times(a.samples_ms, b.samples_ms);
}

ComparedPair compared(const Record& a, const Record& b) {
  ComparedPair pair = {.a = a, .b = b, .metric = shared_metric(a, b)};
  pair.refused = difference_in_work(a, b);
  even_out_update(pair);
  mark_differences(pair);
  pair.a_value = *pair.metric->of(pair.a);
  pair.b_value = *pair.metric->of(pair.b);
  if (pair.a_value <= 0 || pair.b_value <= 0) pair.refused = "too short for the clock";
  if (pair.refused.empty()) {
    pair.comparison = compare_records(pair.a, pair.b, *pair.metric);
    pair.comparison.ratio =
        pair.metric->lower_is_better ? pair.b_value / pair.a_value : pair.a_value / pair.b_value;
  }
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
      return other.refused.empty() && same_network(pair.a, other.a);
    });
  };
  std::vector<ComparedPair> kept;
  std::ranges::copy_if(pairs, std::back_inserter(kept), [&](const ComparedPair& pair) {
    return pair.refused.empty() || !has_fitting_sibling(pair);
  });
  return kept;
}

std::optional<double> median_without_update_ms(const Record& record) {
  const auto share = share_without_update(record);
  if (!share || !record.median_ms) return std::nullopt;
  return *record.median_ms * *share;
}

}  // namespace tacho
