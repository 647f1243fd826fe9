#include "report/profile_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_values.h"
#include "base/text.h"
#include "report/profile_rows.h"
#include "results/format.h"
#include "results/record_json.h"

namespace tacho {
namespace {

double pass_ms(const Profile& profile) { return *profile.pass.median_ms; }

// Of the medians' own sum, so that all layers make up 100 %.
double percent_of_pass(double ms, const Profile& profile) { return 100 * ms / sum_ms(layer_rows(profile)); }

double difference_percent(const Profile& profile) {
  return 100 * (layers_of_a_pass_ms(profile) / pass_ms(profile) - 1);
}

std::string text(const std::optional<double>& value) { return value ? format_significant(*value, 3) : ""; }

// What is known of a layer and of a kernel alike; each table puts its own columns before these.
const std::vector<GridColumn> kFigures = {{"ms", true, Importance::much},
                                          {"% of pass", true, Importance::much},
                                          {"GFLOP/s", true},
                                          {"% of peak", true},
                                          {"bytes", true},
                                          {"GB/s", true},
                                          {"% of roofline", true}};

std::vector<std::string> figures(const ProfileRow& row, const Profile& profile) {
  return {format_significant(row.ms, 3),
          fmt::format("{:.1f}", percent_of_pass(row.ms, profile)),
          text(gflops(row)),
          text(percent_of_peak(row, profile.speed)),
          format_bytes(row.bytes),
          text(gigabytes_per_s(row)),
          text(percent_of_roofline(row))};
}

void add_figures(Grid& grid, std::span<const ProfileRow> rows, const Profile& profile) {
  grid.columns.insert(grid.columns.end(), kFigures.begin(), kFigures.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string> cells = figures(rows[i], profile);
    grid.rows[i].insert(grid.rows[i].end(), cells.begin(), cells.end());
  }
}

Grid layer_grid(std::span<const ProfileRow> rows, const Profile& profile) {
  const bool training = profile.pass.mode == "train";
  Grid grid = {.columns = {{"layer", false, Importance::most}, {"op"}, {"kernel"}}, .rows = {}};
  if (training) grid.columns.insert(grid.columns.begin(), {"phase", false, Importance::most});
  for (const ProfileRow& row : rows) {
    grid.rows.push_back({row.name, row.op, row.kernel});
    if (training) grid.rows.back().insert(grid.rows.back().begin(), row.phase);
  }
  add_figures(grid, rows, profile);
  return grid;
}

Grid kernel_grid(std::span<const ProfileRow> rows, const Profile& profile) {
  Grid grid = {
      .columns = {{"op", false, Importance::most}, {"kernel", false, Importance::most}, {"layers", true}},
      .rows = {}};
  for (const ProfileRow& row : rows) grid.rows.push_back({row.op, row.kernel, std::to_string(row.layers)});
  add_figures(grid, rows, profile);
  return grid;
}

std::string peaks_line(const MachineSpeed& speed) {
  return fmt::format("FMA peak {} GFLOP/s, memory bandwidth {} GB/s with {} thread{}\n",
                     format_significant(speed.fma_gflops, 3), format_significant(speed.bandwidth_gbs, 3),
                     speed.threads, speed.threads == 1 ? "" : "s");
}

std::string sum_line(const Profile& profile) {
  return fmt::format("sum of the layers {} ms, whole pass {} ms, difference {:+.1f} %\n",
                     format_significant(layers_of_a_pass_ms(profile), 4),
                     format_significant(pass_ms(profile), 4), difference_percent(profile));
}

// Said only where a reader would stumble over it.
std::string roofline_note(std::span<const ProfileRow> rows) {
  const bool beyond = std::ranges::any_of(
      rows, [](const ProfileRow& row) { return percent_of_roofline(row).value_or(0) > 100; });
  if (!beyond) return "";
  return "above 100 % of the roofline: Winograd multiplies less than the direct algorithm whose FLOP are "
         "counted, and what is still in a cache does not come from memory\n";
}

std::string profile_text(const Profile& profile, const Layout& layout, std::optional<size_t> top) {
  const std::vector<ProfileRow> layers = layer_rows(profile);
  const std::vector<ProfileRow> shown = top ? most_expensive(layers, *top) : layers;
  return fmt::format("{}\n{}\n{}\n{}\n{}", format_records({&profile.pass, 1}, layout),
                     wrap(peaks_line(profile.speed), layout.width),
                     render(layer_grid(shown, profile), layout),
                     render(kernel_grid(kernel_rows(layers), profile), layout),
                     wrap(sum_line(profile) + roofline_note(layers), layout.width));
}

void set(Json& object, const char* name, const std::optional<double>& value) {
  if (value) object[name] = *value;
}

void add_figures(Json& object, const ProfileRow& row, const Profile& profile) {
  object["median_ms"] = row.ms;
  object["percent_of_pass"] = percent_of_pass(row.ms, profile);
  object["flop"] = row.flop;
  object["bytes"] = row.bytes;
  set(object, "gflops", gflops(row));
  set(object, "percent_of_peak", percent_of_peak(row, profile.speed));
  set(object, "gigabytes_per_s", gigabytes_per_s(row));
  set(object, "percent_of_roofline", percent_of_roofline(row));
}

Json layers_json(std::span<const ProfileRow> rows, const Profile& profile) {
  Json list = Json::array();
  for (size_t i = 0; i < rows.size(); ++i) {
    Json object = {
        {"name", rows[i].name}, {"op", rows[i].op}, {"phase", rows[i].phase}, {"kernel", rows[i].kernel}};
    add_figures(object, rows[i], profile);
    object["samples_ms"] = profile.layers[i].samples_ms;
    list.push_back(std::move(object));
  }
  return list;
}

Json kernels_json(std::span<const ProfileRow> rows, const Profile& profile) {
  Json list = Json::array();
  for (const ProfileRow& row : rows) {
    Json object = {{"op", row.op}, {"kernel", row.kernel}, {"layers", row.layers}};
    add_figures(object, row, profile);
    list.push_back(std::move(object));
  }
  return list;
}

Json profile_json(const Profile& profile, std::span<const ProfileRow> layers) {
  return {{"case", to_json(profile.pass)},
          {"peak", json_of(profile.speed)},
          {"pass_ms", pass_ms(profile)},
          {"sum_ms", layers_of_a_pass_ms(profile)},
          {"difference_percent", difference_percent(profile)},
          {"layers", layers_json(layers, profile)},
          {"kernels", kernels_json(kernel_rows(layers), profile)}};
}

}  // namespace

std::string format_profile(const Profile& profile, const Layout& layout, std::optional<size_t> top) {
  const Format format = layout.format;
  if (is_for_people(format)) return profile_text(profile, layout, top);
  const std::vector<ProfileRow> layers = layer_rows(profile);
  if (format == Format::csv) return format_objects(layers_json(layers, profile), format);
  return to_text(profile_json(profile, layers), format == Format::json ? 2 : -1) + "\n";
}

}  // namespace tacho
