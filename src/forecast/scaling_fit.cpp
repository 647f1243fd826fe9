#include "forecast/scaling_fit.h"

#include <algorithm>
#include <cmath>

#include "forecast/device_case.h"

namespace tacho {
namespace {

// The time of one step, up to a factor that a series shares, and back: the formula is its own inverse but for
// the devices that share a figure.
double step_of(double figure, int devices, const Metric& metric) {
  const double time = metric.lower_is_better ? figure : 1 / figure;
  return metric.counts_all_devices ? time * devices : time;
}

double figure_of(double step, int devices, const Metric& metric) {
  const double time = metric.counts_all_devices ? step / devices : step;
  return metric.lower_is_better ? time : 1 / time;
}

const Metric* metric_of_all(std::span<const Record> records) {
  const auto found = std::ranges::find_if(metrics(), [&](const Metric& metric) {
    return std::ranges::all_of(records, [&](const Record& r) { return metric.of(r).value_or(0) > 0; });
  });
  return found == metrics().end() ? nullptr : &*found;
}

std::vector<std::vector<Record>> grouped_by_case(std::span<const Record> records) {
  std::vector<Record> cases;
  for (const Record& record : records) cases.push_back(without_devices(record));
  const std::vector<size_t> numbers = case_numbers(cases);
  std::vector<std::vector<Record>> groups;
  for (size_t i = 0; i < records.size(); ++i) {
    if (numbers[i] == groups.size()) groups.emplace_back();
    groups[numbers[i]].push_back(records[i]);
  }
  return groups;
}

// The last of each number of devices.
void keep_one_of_each(std::vector<Record>& records) {
  std::ranges::reverse(records);
  std::ranges::stable_sort(records, {}, &Record::devices);
  const auto repeated = std::ranges::unique(records, {}, &Record::devices);
  records.erase(repeated.begin(), repeated.end());
}

}  // namespace

std::vector<int> ScalingSeries::devices() const {
  std::vector<int> counts;
  for (const Record& record : records) counts.push_back(record.devices);
  return counts;
}

std::optional<double> ScalingSeries::figure_on(int devices) const {
  const auto found = std::ranges::find(records, devices, &Record::devices);
  return found == records.end() ? std::nullopt : metric->of(*found);
}

std::vector<ScalingSeries> scaling_series(std::span<const Record> records) {
  std::vector<ScalingSeries> all;
  for (std::vector<Record>& group : grouped_by_case(records)) {
    std::erase_if(group, [](const Record& r) { return r.devices < 1 || r.batch < 1; });
    keep_one_of_each(group);
    const Metric* metric = metric_of_all(group);
    if (group.size() > 1 && metric != nullptr) all.push_back({metric, std::move(group)});
  }
  return all;
}

double ScalingFit::step_on(int devices) const { return first + per_doubling * std::log2(devices); }

double ScalingFit::figure_on(int devices, const Metric& metric) const {
  return figure_of(step_on(devices), devices, metric);
}

std::optional<ScalingFit> fit_scaling(const ScalingSeries& series, std::span<const int> from) {
  const double count = static_cast<double>(from.size());
  double mean_x = 0, mean_step = 0;
  for (const int devices : from) {
    const auto figure = series.figure_on(devices);
    if (!figure) return std::nullopt;
    mean_x += std::log2(devices) / count;
    mean_step += step_of(*figure, devices, *series.metric) / count;
  }
  double squares = 0, products = 0;
  for (const int devices : from) {
    const double x = std::log2(devices) - mean_x;
    squares += x * x;
    products += x * (step_of(*series.figure_on(devices), devices, *series.metric) - mean_step);
  }
  if (squares == 0) return std::nullopt;
  const double per_doubling = std::max(0.0, products / squares);
  const double first = mean_step - per_doubling * mean_x;
  return first > 0 ? std::optional(ScalingFit{first, per_doubling}) : std::nullopt;
}

}  // namespace tacho
