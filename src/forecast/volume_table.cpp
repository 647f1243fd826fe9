#include "forecast/volume_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json_values.h"
#include "forecast/job.h"
#include "report/grid.h"

namespace tacho {
namespace {

constexpr double kIterations = 100e3;
constexpr double kVoxels = 8.1e12;
constexpr double kMinutesPerDay = 24 * 60;
constexpr const char* kPublishedHours = "8.1_tvox_h";

// What one system with so many devices did, over several records.
struct VolumeRow {
  std::string system, model;
  int devices = 0;
  std::optional<double> iterations_per_min = {}, mvox_per_s = {}, written_mvox_per_s = {},
                        published_hours = {};
};

VolumeRow& row_for(const Record& record, std::vector<VolumeRow>& rows) {
  const auto found = std::ranges::find_if(rows, [&](const VolumeRow& row) {
    return row.system == record.system.name && row.model == record.model && row.devices == record.devices;
  });
  return found != rows.end() ? *found
                             : rows.emplace_back(VolumeRow{record.system.name, record.model, record.devices});
}

std::optional<double> entry(const std::map<std::string, double>& entries, const char* name) {
  const auto found = entries.find(name);
  return found == entries.end() ? std::nullopt : std::optional(found->second);
}

std::optional<double> mvox_per_s(const Record& record) {
  if (record.output_mvox_per_s) return record.output_mvox_per_s;
  const auto time = voxel_time(record);
  return time ? std::optional(1e-6 / time->seconds) : std::nullopt;
}

std::vector<VolumeRow> volume_rows(std::span<const Record> records) {
  std::vector<VolumeRow> rows;
  for (const Record& record : records) {
    if (!record.model.starts_with("unet3d")) continue;
    VolumeRow& row = row_for(record, rows);
    if (const auto time = iteration_time(record)) {
      const auto printed = entry(record.corrected, "iterations_per_min");
      row.iterations_per_min = printed                     ? printed
                               : record.iterations_per_min ? record.iterations_per_min
                                                           : std::optional(60 / time->seconds);
    } else {
      row.mvox_per_s = mvox_per_s(record);
      row.written_mvox_per_s = entry(record.corrected, "output_mvox_per_s");
      row.published_hours = entry(record.extrapolated, kPublishedHours);
    }
  }
  return rows;
}

std::optional<double> days_for_iterations(const std::optional<double>& per_min) {
  return per_min ? std::optional(kIterations / *per_min / kMinutesPerDay) : std::nullopt;
}

std::optional<double> hours_for_voxels(const std::optional<double>& mvox_per_s) {
  return mvox_per_s ? std::optional(kVoxels / (*mvox_per_s * 1e6) / kSecondsPerHour) : std::nullopt;
}

struct VolumeColumn {
  const char *header, *name;
  std::optional<double> (*of)(const VolumeRow&);
};

constexpr VolumeColumn kColumns[] = {
    {"iterations/min", "iterations_per_min", [](const VolumeRow& r) { return r.iterations_per_min; }},
    {"100k iterations d", "100k_iterations_d",
     [](const VolumeRow& r) { return days_for_iterations(r.iterations_per_min); }},
    {"Mvox/s", "mvox_per_s", [](const VolumeRow& r) { return r.mvox_per_s; }},
    {"8.1 Tvox h", "8.1_tvox_h", [](const VolumeRow& r) { return hours_for_voxels(r.mvox_per_s); }},
    {"published h", "published_8.1_tvox_h", [](const VolumeRow& r) { return r.published_hours; }},
    {"Mvox/s written", "written_mvox_per_s", [](const VolumeRow& r) { return r.written_mvox_per_s; }},
    {"8.1 Tvox written h", "8.1_tvox_written_h",
     [](const VolumeRow& r) { return hours_for_voxels(r.written_mvox_per_s); }},
};

bool is_used(const VolumeColumn& column, std::span<const VolumeRow> rows) {
  return std::ranges::any_of(rows, [&](const VolumeRow& row) { return column.of(row).has_value(); });
}

Grid grid_of(std::span<const VolumeRow> rows) {
  Grid grid = {.columns = {{"system"}, {"model"}, {"devices", true}}, .rows = {}};
  for (const VolumeRow& row : rows) grid.rows.push_back({row.system, row.model, std::to_string(row.devices)});
  for (const VolumeColumn& column : kColumns) {
    if (!is_used(column, rows)) continue;
    grid.columns.push_back({column.header, true});
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto value = column.of(rows[i]);
      grid.rows[i].push_back(value ? fmt::format("{:.1f}", *value) : "-");
    }
  }
  return grid;
}

Json json_of(const VolumeRow& row) {
  Json object = {{"system", row.system}, {"model", row.model}, {"devices", row.devices}};
  for (const VolumeColumn& column : kColumns) {
    if (const auto value = column.of(row)) object[column.name] = *value;
  }
  return object;
}

}  // namespace

std::string format_volume_extrapolation(std::span<const Record> records, const Layout& layout) {
  const std::vector<VolumeRow> rows = volume_rows(records);
  if (rows.empty()) {
    throw UserError(
        "no result of a volume network is there; say the size of the job: --iterations, --epochs with "
        "--images, --images or --voxels");
  }
  if (is_for_people(layout.format)) return render(grid_of(rows), layout);
  Json list = Json::array();
  for (const VolumeRow& row : rows) list.push_back(json_of(row));
  return format_objects(list, layout.format);
}

}  // namespace tacho
