#include "forecast/forecast_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "base/text.h"
#include "report/grid.h"
#include "results/format.h"

namespace tacho {
namespace {

struct Line {
  const Record* record;
  Estimate estimate;
};

std::vector<Line> lines_of(std::span<const Record> records, const JobSize& job) {
  std::vector<Line> lines;
  for (const Record& record : records) {
    for (Estimate& estimate : tacho::estimate(record, job)) lines.push_back({&record, std::move(estimate)});
  }
  std::ranges::stable_sort(lines, [](const Line& a, const Line& b) {
    return a.estimate.what != b.estimate.what ? a.estimate.what < b.estimate.what
                                              : a.estimate.seconds() < b.estimate.seconds();
  });
  return lines;
}

std::string range_text(const Estimate& estimate) {
  if (!estimate.unit.interval) return "";
  return fmt::format("{} - {}", format_duration_ms(estimate.units * estimate.unit.interval->low * 1e3),
                     format_duration_ms(estimate.units * estimate.unit.interval->high * 1e3));
}

std::string cost_text(const Estimate& estimate, double price_per_hour) {
  const auto cost = [&](double unit_s) { return estimate.units * unit_s / kSecondsPerHour * price_per_hour; };
  const std::string middle = format_significant(cost(estimate.unit.seconds), 3);
  if (!estimate.unit.interval) return middle;
  return fmt::format("{} ({} - {})", middle, format_significant(cost(estimate.unit.interval->low), 3),
                     format_significant(cost(estimate.unit.interval->high), 3));
}

std::string note_of(const Line& line) {
  std::string note = line.estimate.basis;
  if (!line.record->known_error.empty()) note += (note.empty() ? "" : "; ") + line.record->known_error;
  return note;
}

Grid grid_of(std::span<const Line> lines, std::optional<double> price_per_hour) {
  Grid grid = {.columns = {{"system", false, Importance::much},
                           {"engine"},
                           {"model", false, Importance::much},
                           {"mode"},
                           {"batch", true},
                           {"devices", true},
                           {"threads", true},
                           {"image", true},
                           {"job", false, Importance::much},
                           {"time", true, Importance::most},
                           {"95 % interval", true}},
               .rows = {}};
  if (price_per_hour)
    grid.columns.push_back({fmt::format("cost at {}/h", *price_per_hour), true, Importance::most});
  grid.columns.push_back({"note", false, Importance::little});
  for (const Line& line : lines) {
    const Record& r = *line.record;
    std::vector<std::string> row = {r.system.name,
                                    r.engine,
                                    r.model,
                                    r.mode,
                                    std::to_string(r.batch),
                                    std::to_string(r.devices),
                                    r.threads > 0 ? std::to_string(r.threads) : "",
                                    r.image,
                                    line.estimate.what,
                                    format_duration_ms(line.estimate.seconds() * 1e3),
                                    range_text(line.estimate)};
    if (price_per_hour) row.push_back(cost_text(line.estimate, *price_per_hour));
    row.push_back(note_of(line));
    grid.rows.push_back(std::move(row));
  }
  return grid;
}

Json json_of(const Line& line, std::optional<double> price_per_hour) {
  const Record& r = *line.record;
  const Estimate& estimate = line.estimate;
  Json object = {{"system", r.system.name},
                 {"record", r.id},
                 {"engine", r.engine},
                 {"model", r.model},
                 {"mode", r.mode},
                 {"batch", r.batch},
                 {"devices", r.devices},
                 {"threads", r.threads},
                 {"image", r.image},
                 {"job", estimate.what},
                 {"seconds", estimate.seconds()}};
  if (estimate.unit.interval) {
    object["seconds_low"] = estimate.units * estimate.unit.interval->low;
    object["seconds_high"] = estimate.units * estimate.unit.interval->high;
  }
  if (price_per_hour) object["cost"] = estimate.seconds() / kSecondsPerHour * *price_per_hour;
  if (const std::string note = note_of(line); !note.empty()) object["note"] = note;
  return object;
}

}  // namespace

std::string format_forecast(std::span<const Record> records, const JobSize& job,
                            std::optional<double> price_per_hour, const Layout& layout) {
  const std::vector<Line> lines = lines_of(records, job);
  if (lines.empty()) {
    throw UserError(
        "none of these results tells how long that takes; training is needed for --iterations and "
        "--epochs, inference for --images, a volume network for --voxels");
  }
  if (is_for_people(layout.format)) return render(grid_of(lines, price_per_hour), layout);
  Json list = Json::array();
  for (const Line& line : lines) list.push_back(json_of(line, price_per_hour));
  return format_objects(list, layout.format);
}

}  // namespace tacho
