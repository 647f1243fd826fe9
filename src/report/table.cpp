#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/json_values.h"
#include "report/grid.h"
#include "results/fields.h"
#include "results/format.h"
#include "results/record_json.h"

namespace tacho {
namespace {

bool is_shared(const Field& field, std::span<const Record> records) {
  return std::ranges::all_of(records,
                             [&](const Record& r) { return field.text(r) == field.text(records[0]); });
}

bool is_column(const Field& field, std::span<const Record> records) {
  switch (field.column) {
    case Column::never: return false;
    case Column::always: return true;
    case Column::differing: return !is_shared(field, records);
    case Column::present:
      return std::ranges::any_of(records, [&](const Record& r) { return !field.text(r).empty(); });
  }
  return false;
}

void add_identity(std::span<const Record> records, Grid& grid) {
  grid.columns = {{"id", false, Importance::most},
                  {"time", false, Importance::little},
                  {"system", false, Importance::much}};
  for (size_t i = 0; i < records.size(); ++i) {
    grid.rows[i] = {records[i].reference.empty() ? shown_id(records[i].id) : records[i].id, records[i].time,
                    records[i].system.name};
  }
}

Grid grid_of(std::span<const Record> records, bool identified) {
  Grid grid;
  grid.rows.resize(records.size());
  if (identified) add_identity(records, grid);
  for (const Field& field : fields()) {
    if (!is_column(field, records)) continue;
    grid.columns.push_back({std::string(field.header), field.number, importance_of(field)});
    for (size_t i = 0; i < records.size(); ++i) grid.rows[i].push_back(field.text(records[i]));
  }
  return grid;
}

// What the columns leave out because all records share it.
std::string caption(std::span<const Record> records, bool identified) {
  if (records.empty()) return "";
  const SystemInfo& system = records[0].system;
  std::string line = identified ? fmt::format("{} results", records.size())
                                : fmt::format("{}: {}, {} cores", system.name, system.cpu, system.cores);
  for (const Field& field : fields()) {
    if (field.column != Column::differing || !is_shared(field, records)) continue;
    if (const std::string text = field.text(records[0]); !text.empty()) {
      line += fmt::format(", {} {}", field.header, text);
    }
  }
  return line + "\n\n";
}

std::string cell_text(const Json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? value.get<std::string>() : to_text(value);
}

// What newer programs wrote, in the order in which it is met.
std::vector<std::string> carried_names(std::span<const Record> records) {
  std::vector<std::string> names;
  for (const Record& record : records) {
    for (const CarriedEntry& entry : record.carried) {
      if (std::ranges::find(names, entry.name) == names.end()) names.push_back(entry.name);
    }
  }
  return names;
}

std::string carried_text(const Record& record, std::string_view name) {
  const auto found = std::ranges::find(record.carried, name, &CarriedEntry::name);
  return found == record.carried.end() ? "" : cell_text(parse_json(found->json));
}

Grid every_field(std::span<const Record> records) {
  Grid grid;
  grid.rows.resize(records.size());
  for (const Field& field : fields()) {
    grid.columns.push_back({std::string(field.name)});
    for (size_t i = 0; i < records.size(); ++i)
      grid.rows[i].push_back(cell_text(field.access.get(records[i])));
  }
  for (const std::string& name : carried_names(records)) {
    grid.columns.push_back({name});
    for (size_t i = 0; i < records.size(); ++i) grid.rows[i].push_back(carried_text(records[i], name));
  }
  return grid;
}

void flatten(const Json& object, const std::string& prefix, Json& flat) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object()) {
      flatten(value, prefix + name + ".", flat);
    } else {
      flat[prefix + name] = value;
    }
  }
}

Grid flat_grid(const Json& list) {
  std::vector<Json> rows;
  Json columns = Json::object();
  for (const Json& object : list) {
    Json flat = Json::object();
    flatten(object, "", flat);
    for (const auto& [name, value] : flat.items()) columns[name] = nullptr;
    rows.push_back(std::move(flat));
  }
  Grid grid;
  grid.rows.resize(rows.size());
  for (const auto& [name, unused] : columns.items()) {
    grid.columns.push_back({name});
    for (size_t i = 0; i < rows.size(); ++i) {
      grid.rows[i].push_back(rows[i].contains(name) ? cell_text(rows[i][name]) : "");
    }
  }
  return grid;
}

Json json(std::span<const Record> records) {
  Json array = Json::array();
  for (const Record& record : records) array.push_back(to_json(record));
  return array;
}

}  // namespace

Format parse_format(std::string_view name) {
  if (name == "table") return Format::table;
  if (name == "md") return Format::md;
  if (name == "csv") return Format::csv;
  if (name == "json") return Format::json;
  if (name == "jsonl") return Format::jsonl;
  throw UserError("--format '{}': unknown format; there are table, md, csv, json, jsonl", name);
}

bool is_for_people(Format format) { return format == Format::table || format == Format::md; }

std::string render(const Grid& grid, const Layout& layout) {
  return layout.format == Format::md ? render_markdown(grid) : render_plain(grid, layout.width);
}

std::string format_objects(const Json& list, Format format) {
  if (format == Format::json) return to_text(list, 2) + "\n";
  if (format == Format::csv) return render_csv(flat_grid(list));
  std::string lines;
  for (const Json& object : list) lines += to_text(object) + "\n";
  return lines;
}

std::string format_records(std::span<const Record> records, const Layout& layout, bool identified) {
  switch (layout.format) {
    case Format::table:
    case Format::md:
      return wrap(caption(records, identified), layout.width) + render(grid_of(records, identified), layout);
    case Format::csv: return render_csv(every_field(records));
    case Format::json:
    case Format::jsonl: return format_objects(json(records), layout.format);
  }
  return "";
}

}  // namespace tacho
