#include "forecast/volume_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "base/error.h"
#include "base/json_values.h"
#include "forecast/job.h"
#include "report/grid.h"
#include "results/format.h"

namespace tacho {
namespace {

constexpr double kIterations = 100e3;
constexpr double kVoxels = 8.1e12;
constexpr double kMinutesPerDay = 24 * 60;
constexpr const char *kPublishedDays = "100k_iterations_d", *kPublishedHours = "8.1_tvox_h";

// What one system with so many devices did, over several records.
struct VolumeRow {
  std::string system, model;
  int devices = 0;
  std::optional<double> training_s = {}, iterations_per_min = {}, published_iterations_per_min = {},
                        published_days = {};
  std::optional<double> prediction_s = {}, mvox_per_s = {}, written_mvox_per_s = {}, published_hours = {};
  bool wrote_all = false;  // the voxels that mvox_per_s counts
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

// A system's figures stand in several tables: what one of them lacks another has.
void take(const std::optional<double>& value, std::optional<double>& figure) {
  if (value) figure = value;
}

// Nobody validated in the published trainings.
std::optional<double> training_seconds(const Record& record) {
  if (!record.seconds) return std::nullopt;
  return *record.seconds - record.evaluation_seconds.value_or(0);
}

void add_training(const Record& record, const UnitTime& iteration, VolumeRow& row) {
  const auto corrected = entry(record.corrected, "iterations_per_min");
  row.iterations_per_min = corrected                   ? corrected
                           : record.iterations_per_min ? record.iterations_per_min
                                                       : std::optional(60 / iteration.seconds);
  take(training_seconds(record), row.training_s);
  if (!record.reference.empty()) take(record.iterations_per_min, row.published_iterations_per_min);
  take(entry(record.extrapolated, kPublishedDays), row.published_days);
}

void add_prediction(const Record& record, VolumeRow& row) {
  take(mvox_per_s(record), row.mvox_per_s);
  take(record.seconds, row.prediction_s);
  take(entry(record.corrected, "output_mvox_per_s"), row.written_mvox_per_s);
  row.wrote_all = record.reference.empty() && record.output_mvox_per_s;
  take(entry(record.extrapolated, kPublishedHours), row.published_hours);
}

// This program writes every voxel that it counts, which matters beside those that do not.
void complete_written(std::vector<VolumeRow>& rows) {
  const auto is_known = [](const VolumeRow& row) { return row.written_mvox_per_s.has_value(); };
  if (std::ranges::none_of(rows, is_known)) return;
  for (VolumeRow& row : rows) {
    if (row.wrote_all) row.written_mvox_per_s = row.mvox_per_s;
  }
}

std::vector<VolumeRow> volume_rows(std::span<const Record> records) {
  std::vector<VolumeRow> rows;
  for (const Record& record : records) {
    if (!record.model.starts_with("unet3d")) continue;
    VolumeRow& row = row_for(record, rows);
    if (const auto time = iteration_time(record)) {
      add_training(record, *time, row);
    } else {
      add_prediction(record, row);
    }
  }
  complete_written(rows);
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

constexpr VolumeColumn kTrainingSeconds = {"training s", "training_s",
                                           [](const VolumeRow& r) { return r.training_s; }};
constexpr VolumeColumn kIterationsPerMin = {"iterations/min", "iterations_per_min",
                                            [](const VolumeRow& r) { return r.iterations_per_min; }};
constexpr VolumeColumn kPublishedIterationsPerMin = {
    "published iterations/min", "published_iterations_per_min",
    [](const VolumeRow& r) { return r.published_iterations_per_min; }};
constexpr VolumeColumn kDaysColumn = {"100k iterations d", "100k_iterations_d", [](const VolumeRow& r) {
                                        return days_for_iterations(r.iterations_per_min);
                                      }};
constexpr VolumeColumn kPublishedDaysColumn = {"published d", "published_100k_iterations_d",
                                               [](const VolumeRow& r) { return r.published_days; }};
constexpr VolumeColumn kPredictionSeconds = {"prediction s", "prediction_s",
                                             [](const VolumeRow& r) { return r.prediction_s; }};
constexpr VolumeColumn kMvoxPerS = {"Mvox/s", "mvox_per_s", [](const VolumeRow& r) { return r.mvox_per_s; }};
constexpr VolumeColumn kHoursColumn = {"8.1 Tvox h", "8.1_tvox_h",
                                       [](const VolumeRow& r) { return hours_for_voxels(r.mvox_per_s); }};
constexpr VolumeColumn kPublishedHoursColumn = {"published h", "published_8.1_tvox_h",
                                                [](const VolumeRow& r) { return r.published_hours; }};
constexpr VolumeColumn kWrittenMvoxPerS = {"Mvox/s written", "written_mvox_per_s",
                                           [](const VolumeRow& r) { return r.written_mvox_per_s; }};
constexpr VolumeColumn kWrittenHoursColumn = {
    "8.1 Tvox written h", "8.1_tvox_written_h",
    [](const VolumeRow& r) { return hours_for_voxels(r.written_mvox_per_s); }};

constexpr VolumeColumn kExtrapolation[] = {kIterationsPerMin,  kDaysColumn,           kMvoxPerS,
                                           kHoursColumn,       kPublishedHoursColumn, kWrittenMvoxPerS,
                                           kWrittenHoursColumn};

// The report's tables.
constexpr VolumeColumn kTrainingTable[] = {kTrainingSeconds, kIterationsPerMin, kPublishedIterationsPerMin};
constexpr VolumeColumn kPredictionTable[] = {kPredictionSeconds, kMvoxPerS, kWrittenMvoxPerS};
constexpr VolumeColumn kDaysTable[] = {kIterationsPerMin, kDaysColumn, kPublishedDaysColumn};
constexpr VolumeColumn kHoursTable[] = {kMvoxPerS, kHoursColumn, kPublishedHoursColumn, kWrittenMvoxPerS,
                                        kWrittenHoursColumn};

using Columns = std::span<const VolumeColumn>;

bool is_used(const VolumeColumn& column, std::span<const VolumeRow> rows) {
  return std::ranges::any_of(rows, [&](const VolumeRow& row) { return column.of(row).has_value(); });
}

// As the report writes figures, but for those of which nothing would be left.
std::string text_of(double figure) {
  return figure < 1 ? format_significant(figure, 2) : fmt::format("{:.1f}", figure);
}

Grid grid_of(std::span<const VolumeRow> rows, Columns columns) {
  Grid grid = {.columns = {{"system"}, {"model"}, {"devices", true}}, .rows = {}};
  for (const VolumeRow& row : rows) grid.rows.push_back({row.system, row.model, std::to_string(row.devices)});
  for (const VolumeColumn& column : columns) {
    if (!is_used(column, rows)) continue;
    grid.columns.push_back({column.header, true});
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto value = column.of(rows[i]);
      grid.rows[i].push_back(value ? text_of(*value) : "-");
    }
  }
  return grid;
}

Json json_of(const VolumeRow& row) {
  Json object = {{"system", row.system}, {"model", row.model}, {"devices", row.devices}};
  for (const VolumeColumn& column : kExtrapolation) {
    if (const auto value = column.of(row)) object[column.name] = *value;
  }
  return object;
}

// Of the rows that have the first of these figures.
std::string table_of(const char* title, std::span<const VolumeRow> rows, Columns columns,
                     const Layout& layout) {
  std::vector<VolumeRow> with_figure;
  std::ranges::copy_if(rows, std::back_inserter(with_figure),
                       [&](const VolumeRow& row) { return columns.front().of(row).has_value(); });
  if (with_figure.empty()) return "";
  return fmt::format("{}:\n\n{}\n", title, render(grid_of(with_figure, columns), layout));
}

std::string note_on_hours(std::span<const VolumeRow> rows) {
  const auto found =
      std::ranges::find_if(rows, [](const VolumeRow& row) { return row.published_hours.has_value(); });
  if (found == rows.end()) return "";
  return fmt::format(
      "published h: an arithmetic slip, 10 times too small: 8.1 Tvox at the {:.1f} Mvox/s of {} take {:.1f} "
      "h, not {:.1f} h\n",
      *found->mvox_per_s, found->system, *hours_for_voxels(found->mvox_per_s), *found->published_hours);
}

std::string note_on_written(std::span<const VolumeRow> rows) {
  if (!is_used(kWrittenMvoxPerS, rows)) return "";
  return "Mvox/s written: the published predictions wrote 64 % of the voxels and counted 100 %, since blocks "
         "advanced by the size of their input; this is the rate of voxels really written\n";
}

std::string note_on_iterations(std::span<const VolumeRow> rows) {
  if (!is_used(kPublishedIterationsPerMin, rows)) return "";
  return "published iterations/min: where they differ from the iterations/min, they do not follow from the "
         "seconds\n";
}

}  // namespace

std::string format_volume_tables(std::span<const Record> records, const Layout& layout) {
  const std::vector<VolumeRow> rows = volume_rows(records);
  const std::string notes = note_on_hours(rows) + note_on_written(rows) + note_on_iterations(rows);
  return table_of("Training", rows, kTrainingTable, layout) +
         table_of("Prediction", rows, kPredictionTable, layout) +
         table_of("100,000 iterations of training", rows, kDaysTable, layout) +
         table_of("A volume of 8.1 Tvox", rows, kHoursTable, layout) + wrap(notes, layout.width, 2);
}

std::string format_volume_extrapolation(std::span<const Record> records, const Layout& layout) {
  const std::vector<VolumeRow> rows = volume_rows(records);
  if (rows.empty()) {
    throw UserError(
        "no result of a volume network is there; say the size of the job: --iterations, --epochs with "
        "--images, --images or --voxels");
  }
  if (is_for_people(layout.format)) return render(grid_of(rows, kExtrapolation), layout);
  Json list = Json::array();
  for (const VolumeRow& row : rows) list.push_back(json_of(row));
  return format_objects(list, layout.format);
}

}  // namespace tacho
