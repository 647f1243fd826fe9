#include "report/scaling_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "report/published.h"
#include "results/format.h"
#include "results/speedup.h"

namespace tacho {
namespace {

// Ours by devices, what was only computed behind what was measured, then the published ones as they stand.
std::vector<Record> by_devices(std::span<const Record> records, std::span<const Record> published) {
  std::vector<Record> rows(records.begin(), records.end());
  std::ranges::stable_sort(rows, {}, [](const Record& record) {
    return std::pair(record.judgement.verdict == Verdict::simulated, record.devices);
  });
  rows.insert(rows.end(), published.begin(), published.end());
  return rows;
}

// Every part by which any pass takes longer, the one that costs most first.
std::vector<std::string> lost_parts(std::span<const Record> records) {
  std::map<std::string, double> sums;
  for (const Record& record : records) {
    for (const auto& [part, ms] : record.lost_ms) sums[part] += ms;
  }
  std::vector<std::string> parts;
  for (const auto& [part, unused] : sums) parts.push_back(part);
  std::ranges::stable_sort(parts, std::ranges::greater(),
                           [&](const std::string& part) { return sums[part]; });
  return parts;
}

std::string ratio_text(const std::optional<double>& value) {
  return value ? format_significant(*value, kRatioDigits) : "";
}

std::string lost_text(const Record& record) {
  if (record.lost_ms.empty()) return "";
  const double sum = std::accumulate(record.lost_ms.begin(), record.lost_ms.end(), 0.0,
                                     [](double so_far, const auto& part) { return so_far + part.second; });
  return format_significant(sum, kRatioDigits);
}

std::string lost_text(const Record& record, const std::string& part) {
  const auto found = record.lost_ms.find(part);
  return found == record.lost_ms.end() ? "" : format_significant(found->second, kRatioDigits);
}

// Over one device.
struct Speedups {
  Speedups(const Record& record, std::span<const Record> records) {
    const Record* one = on_one_device(record, records, Held::batch_per_device);
    if (one != nullptr) {
      forward = speedup_of(record, *one, forward_rate);
      backward = speedup_of(record, *one, backward_rate);
      overall = speedup_of(record, *one);
    }
    if (record.speedup && (one == nullptr || !record.reference.empty())) overall = record.speedup;
  }

  std::optional<double> forward, backward, overall;
};

std::vector<std::string> row_of(const Record& r, std::span<const Record> all,
                                std::span<const Record> published) {
  const Speedups speedups(r, all);
  const auto efficiency =
      speedups.overall ? std::optional(100 * *speedups.overall / r.devices) : std::nullopt;
  return {
      r.system.name,
      r.engine,
      count_text(r.nodes),
      count_text(r.devices),
      count_text(r.threads),
      figure_text(r, "forward_images_per_s", forward_rate(r), kFigureDigits),
      figure_text(r, "backward_images_per_s", backward_rate(r), kFigureDigits),
      figure_text(r, "images_per_s", r.images_per_s, kFigureDigits),
      ratio_text(speedups.forward),
      ratio_text(speedups.backward),
      r.speedup ? figure_text(r, "speedup", speedups.overall, kRatioDigits) : ratio_text(speedups.overall),
      ratio_text(efficiency),
      note_on(r, published),
      lost_text(r)};
}

}  // namespace

Grid scaling_table(std::span<const Record> records, std::span<const Record> published) {
  Grid grid = {.columns = {{"System", false, Importance::most},
                           {"Engine", false, Importance::little},
                           {"Nodes", true, Importance::little},
                           {"Devices", true, Importance::most},
                           {"Threads", true, Importance::little},
                           {"Forward images/s", true},
                           {"Backward images/s", true},
                           {"Images/s", true, Importance::most},
                           {"Forward speed-up", true},
                           {"Backward speed-up", true},
                           {"Speed-up", true, Importance::most},
                           {"Efficiency %", true, Importance::much},
                           {"Note", false, Importance::much},
                           {"Lost ms", true, Importance::much}},
               .rows = {}};
  const std::vector<std::string> parts = lost_parts(records);
  for (const std::string& part : parts) grid.columns.push_back({fmt::format("of it {}", part), true});
  const std::vector<Record> rows = by_devices(records, published);
  for (const Record& record : rows) {
    grid.rows.push_back(row_of(record, rows, published));
    for (const std::string& part : parts) grid.rows.back().push_back(lost_text(record, part));
  }
  return grid;
}

}  // namespace tacho
