#include "forecast/extrapolation_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "forecast/device_case.h"
#include "results/format.h"
#include "results/verdict.h"

namespace tacho {
namespace {

struct Continued {
  ScalingSeries series;
  ScalingFit fit;
  std::span<const int> from;
};

struct ScalingRow {
  int devices;
  double predicted, speedup;
  std::optional<double> known, error_percent;
  bool fitted;
};

ScalingRow row_of(const Continued& continued, int devices) {
  const auto& [series, fit, from] = continued;
  ScalingRow row = {.devices = devices,
                    .predicted = fit.figure_on(devices, *series.metric),
                    .speedup = fit.speedup_on(devices),
                    .known = series.figure_on(devices),
                    .error_percent = {},
                    .fitted = std::ranges::find(from, devices) != from.end()};
  if (row.known) row.error_percent = 100 * (row.predicted / *row.known - 1);
  return row;
}

std::string_view known_name(const Continued& continued) {
  return continued.series.records[0].reference.empty() ? "measured" : "published";
}

double percent_per_doubling(const ScalingFit& fit) { return 100 * fit.per_doubling / fit.first; }

std::string caption(const Continued& continued) {
  const std::vector<Record>& records = continued.series.records;
  const bool corrected = std::ranges::any_of(records, [](const Record& r) { return !r.corrected.empty(); });
  return fmt::format(
      "{}{}\n"
      "simulated: step(n) = step(1) + c log2 n; fitted to {} devices, c is {} % of step(1)\n\n",
      text_of_case(records[0]), corrected ? "; published figures as corrected" : "",
      fmt::join(continued.from, ", "), format_significant(percent_per_doubling(continued.fit), kRatioDigits));
}

std::string error_text(const ScalingRow& row) {
  if (!row.error_percent) return "";
  return fmt::format("{:+.1f}{}", *row.error_percent, row.fitted ? " fitted" : "");
}

Grid grid_of(const Continued& continued, std::span<const int> devices) {
  const std::string_view unit = continued.series.metric->unit;
  Grid grid = {.columns = {{"devices", true, Importance::most},
                           {fmt::format("{} {}", known_name(continued), unit), true, Importance::much},
                           {fmt::format("predicted {}", unit), true, Importance::most},
                           {"error %", true, Importance::most},
                           {"speed-up", true},
                           {"efficiency %", true},
                           {"verdict", false, Importance::most}},
               .rows = {}};
  for (const int count : devices) {
    const ScalingRow row = row_of(continued, count);
    grid.rows.push_back({std::to_string(count),
                         row.known ? format_significant(*row.known, kFigureDigits) : "",
                         format_significant(row.predicted, kFigureDigits), error_text(row),
                         format_significant(row.speedup, kRatioDigits),
                         format_significant(100 * row.speedup / count, kRatioDigits),
                         std::string(name_of(Verdict::simulated))});
  }
  return grid;
}

Json json_of(const Continued& continued, const ScalingRow& row) {
  const Record& record = continued.series.records[0];
  Json object = {{"system", record.system.name},
                 {"engine", record.engine},
                 {"model", record.model},
                 {"mode", record.mode},
                 {"batch", record.batch},
                 {"image", record.image},
                 {"from", std::vector<int>(continued.from.begin(), continued.from.end())},
                 {"percent_per_doubling", percent_per_doubling(continued.fit)},
                 {"fitted", row.fitted},
                 {"devices", row.devices},
                 {"unit", continued.series.metric->unit},
                 {"predicted", row.predicted},
                 {"speedup", row.speedup},
                 {"efficiency_percent", 100 * row.speedup / row.devices},
                 {"verdict", name_of(Verdict::simulated)}};
  if (row.known) object[std::string(known_name(continued))] = *row.known;
  if (row.error_percent) object["error_percent"] = *row.error_percent;
  return object;
}

[[noreturn]] void refuse(std::span<const ScalingSeries> all, std::span<const int> from) {
  if (all.empty()) {
    throw UserError(
        "--from {}: none of these results is of one case on several numbers of devices with the same batch "
        "on "
        "each",
        fmt::join(from, ","));
  }
  const auto most =
      std::ranges::max_element(all, {}, [](const auto& series) { return series.records.size(); });
  throw UserError(
      "--from {}: no case was measured on these numbers of devices and can be fitted; there are {}",
      fmt::join(from, ","), fmt::join(most->devices(), ","));
}

}  // namespace

std::string format_extrapolation(std::span<const Record> records, std::span<const int> from,
                                 std::span<const int> devices, const Layout& layout) {
  const std::vector<ScalingSeries> all = scaling_series(records);
  std::string text;
  Json list = Json::array();
  for (const ScalingSeries& series : all) {
    const auto fit = fit_scaling(series, from);
    if (!fit) continue;
    const Continued continued = {series, *fit, from};
    for (const int count : devices) list.push_back(json_of(continued, row_of(continued, count)));
    text += (text.empty() ? "" : "\n") + wrap(caption(continued), layout.width) +
            render(grid_of(continued, devices), layout);
  }
  if (list.empty()) refuse(all, from);
  return is_for_people(layout.format) ? text : format_objects(list, layout.format);
}

}  // namespace tacho
