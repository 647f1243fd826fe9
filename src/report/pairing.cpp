#include "report/pairing.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/json_values.h"
#include "results/correction.h"
#include "results/fields.h"

namespace tacho {
namespace {

constexpr std::array kMetrics = {
    Metric{"ms", [](const Record& r) { return r.median_ms ? r.median_ms : r.mean_ms; }, true},
    Metric{"images/s", [](const Record& r) { return corrected_figure(r, "images_per_s", r.images_per_s); },
           false, true},
    Metric{"iterations/min",
           [](const Record& r) { return corrected_figure(r, "iterations_per_min", r.iterations_per_min); }},
    Metric{"Mvox/s",
           [](const Record& r) { return corrected_figure(r, "output_mvox_per_s", r.output_mvox_per_s); },
           false, true},
    Metric{"s/epoch",
           [](const Record& r) { return corrected_figure(r, "seconds_per_epoch", r.seconds_per_epoch); },
           true, true},
};

bool includes(const Record& record, std::string_view what) {
  return std::ranges::find(record.time_includes, what) != record.time_includes.end();
}

std::vector<Json> values_of(const Record& record, FieldRole role) {
  std::vector<Json> values;
  for (const Field& field : fields()) {
    if (field.role == role) values.push_back(field.access.get(record));
  }
  return values;
}

// A record with what decides whether and how well it fits to another.
struct Candidate {
  explicit Candidate(const Record& of)
      : record(&of),
        subject(values_of(of, FieldRole::subject)),
        work(values_of(of, FieldRole::work)),
        means(values_of(of, FieldRole::means)) {}

  const Record* record;
  std::vector<Json> subject, work, means;
};

bool same_subject(const Candidate& a, const Candidate& b) { return a.subject == b.subject; }

std::vector<Candidate> candidates_of(std::span<const Record> records) {
  return {records.begin(), records.end()};
}

// Whether both know it and do not agree on it.
bool differ(const Json& a, const Json& b) { return !a.is_null() && !b.is_null() && a != b; }

std::ptrdiff_t count_differences_in_work(const Candidate& a, const Candidate& b) {
  return std::inner_product(a.work.begin(), a.work.end(), b.work.begin(), std::ptrdiff_t{0}, std::plus(),
                            differ);
}

std::string plain_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

// What both know and do not agree on, in words; none where the work is the same.
std::vector<std::string> differences_in_work(const Record& a, const Record& b) {
  std::vector<std::string> differences;
  for (const Field& field : fields()) {
    if (field.role != FieldRole::work) continue;
    const Json of_a = field.access.get(a), of_b = field.access.get(b);
    if (!differ(of_a, of_b)) continue;
    differences.push_back(fmt::format("{} {} against {}", field.header.empty() ? field.name : field.header,
                                      plain_text(of_a), plain_text(of_b)));
  }
  return differences;
}

const Metric* shared_metric(const Record& a, const Record& b) {
  const auto found =
      std::ranges::find_if(kMetrics, [&](const Metric& metric) { return metric.of(a) && metric.of(b); });
  return found == kMetrics.end() ? nullptr : &*found;
}

// How alike two records of the same work were measured, what matters most first.
std::array<std::ptrdiff_t, 5> likeness(const Candidate& first, const Candidate& second) {
  const Record &a = *first.record, &b = *second.record;
  return {a.system.name == b.system.name, a.engine == b.engine, a.threads == b.threads,
          std::inner_product(first.means.begin(), first.means.end(), second.means.begin(), std::ptrdiff_t{0},
                             std::plus(), std::equal_to()),
          a.interleaved == b.interleaved};
}

// Of the records of the same subject the one that did most nearly the same work, then the most alike, then
// the latest.
const Candidate* partner_of(const Candidate& a, std::span<const Candidate> candidates) {
  const Candidate* best = nullptr;
  std::pair<std::ptrdiff_t, std::array<std::ptrdiff_t, 5>> best_fit = {};
  for (const Candidate& b : candidates) {
    if (!same_subject(a, b) || shared_metric(*a.record, *b.record) == nullptr) continue;
    const std::pair fit = {-count_differences_in_work(a, b), likeness(a, b)};
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
  const double others =
      *r.forward_ms + *r.backward_ms + r.exposed_allreduce_ms.value_or(0) + r.wait_ms.value_or(0);
  return others / (others + *r.update_ms);
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
    if (record->judgement.verdict == Verdict::simulated)
      pair.marks.push_back(fmt::format("the {} is simulated", record == &pair.a ? "first" : "second"));
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

std::span<const Metric> metrics() { return kMetrics; }

std::vector<ComparedPair> compare_selections(const Selection& a, const Selection& b) {
  const std::vector<Candidate> of_a = candidates_of(a.records), of_b = candidates_of(b.records);
  std::vector<ComparedPair> pairs;
  for (const Candidate& candidate : of_a) {
    const Candidate* partner = partner_of(candidate, of_b);
    if (partner == nullptr) continue;
    pairs.push_back(compared(*candidate.record, *partner->record));
    pairs.back().a_at = static_cast<size_t>(&candidate - of_a.data());
    pairs.back().b_at = static_cast<size_t>(partner - of_b.data());
  }
  const auto has_fitting_sibling = [&](const ComparedPair& pair) {
    return std::ranges::any_of(pairs, [&](const ComparedPair& other) {
      return other.refusals.empty() && same_subject(of_a[pair.a_at], of_a[other.a_at]);
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
