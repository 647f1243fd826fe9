#include "results/references.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/embedded_file.h"
#include "base/json_values.h"
#include "results/fields.h"
#include "results/record_json.h"

namespace tacho {

std::span<const EmbeddedFile> embedded_references();

namespace {

constexpr int kSchema = 1;
constexpr std::string_view kCorrected = "corrected.", kExtrapolated = "extrapolated.";
constexpr std::array<std::string_view, 2> kRemarks = {"known_error", "correction"};

const Json& part(const Json& object, const char* name) {
  if (!object.is_object() || !object.contains(name)) throw UserError("has no '{}'", name);
  return object[name];
}

std::string text_part(const Json& object, const char* name) {
  std::string text;
  try {
    read(part(object, name), text);
  } catch (const UserError& error) {
    throw UserError("'{}' {}", name, error.what());
  }
  return text;
}

void set_field(std::string_view name, const Json& value, Record& record) {
  if (name == "system") return read(value, record.system.name);
  if (name == "cuda") return read(value, record.system.libraries["CUDA"]);
  if (name.starts_with(kCorrected)) {
    return read(value, record.corrected[std::string(name.substr(kCorrected.size()))]);
  }
  if (name.starts_with(kExtrapolated)) {
    return read(value, record.extrapolated[std::string(name.substr(kExtrapolated.size()))]);
  }
  const auto known = std::ranges::find(fields(), name, &Field::name);
  if (known == fields().end()) throw UserError("is no field of a record");
  known->access.set(record, value);
}

void set_row(const Json& values, Record& record) {
  for (const auto& [name, value] : values.items()) {
    if (value.is_null()) continue;
    try {
      set_field(name, value, record);
    } catch (const UserError& error) {
      throw UserError("'{}' {}", name, error.what());
    }
  }
}

// The table's own values under those of the row.
Json merged_row(const Json& table, const Json& row) {
  const Json& columns = part(table, "columns");
  if (!row.is_array() || row.size() != columns.size()) {
    throw UserError("row {} has not one value for each of {} columns", to_text(row), columns.size());
  }
  Json values = part(table, "shared");
  for (const std::string_view remark : kRemarks) {
    if (table.contains(remark)) values[std::string(remark)] = table[std::string(remark)];
  }
  for (size_t c = 0; c < columns.size(); ++c) {
    if (!row[c].is_null()) values[columns[c].get<std::string>()] = row[c];
  }
  return values;
}

bool is_remark(std::string_view name) { return std::ranges::find(kRemarks, name) != kRemarks.end(); }

// Whether two rows can be figures of one measurement: nothing that both tell differs, and each tells
// something that the other does not.
bool belong_together(const Json& a, const Json& b) {
  bool extends = false;
  for (const auto& [name, value] : b.items()) {
    if (is_remark(name)) continue;
    if (!a.contains(name)) {
      extends = true;
    } else if (a[name] != value) {
      return false;
    }
  }
  return extends;
}

void join(Json& values, const Json& more) {
  for (const auto& [name, value] : more.items()) {
    if (!values.contains(name)) {
      values[name] = value;
    } else if (is_remark(name) && values[name] != value) {
      values[name] = fmt::format("{} {}", values[name].get<std::string>(), value.get<std::string>());
    }
  }
}

// Sources often spread one measurement over tables: seconds in one, the rate in another.
std::vector<Json> join_rows(const Json& tables) {
  std::vector<Json> rows;
  for (const Json& table : tables) {
    const size_t earlier = rows.size();
    for (const Json& row : part(table, "rows")) {
      const Json values = merged_row(table, row);
      const auto end = rows.begin() + static_cast<std::ptrdiff_t>(earlier);
      const auto same =
          std::find_if(rows.begin(), end, [&](const Json& r) { return belong_together(r, values); });
      if (same == end) {
        rows.push_back(values);
      } else {
        join(*same, values);
      }
    }
  }
  return rows;
}

Record to_record(const ReferenceSet& set, const Json& row, size_t index) {
  Record record;
  record.id = fmt::format("{}/{}", set.name, index + 1);
  record.reference = set.name;
  record.source = set.source;
  record.protocol = set.protocol;
  set_row(row, record);
  return record;
}

}  // namespace

ReferenceSet parse_reference_set(std::string_view text, std::string_view file) {
  const Json json = parse_json(text);
  try {
    if (json.is_discarded()) throw UserError("is not JSON, or is cut off");
    if (part(json, "schema") != kSchema) throw UserError("has a schema other than {}", kSchema);
    ReferenceSet set = {.name = text_part(json, "name"),
                        .title = text_part(json, "title"),
                        .source = text_part(json, "source"),
                        .protocol = text_part(json, "protocol"),
                        .records = {}};
    const std::vector<Json> rows = join_rows(part(json, "tables"));
    for (size_t i = 0; i < rows.size(); ++i) set.records.push_back(to_record(set, rows[i], i));
    return set;
  } catch (const UserError& error) {
    throw UserError("{}: {}", file, error.what());
  } catch (const Json::exception& error) {
    throw UserError("{}: {}", file, error.what());
  }
}

const std::vector<ReferenceSet>& reference_sets() {
  static const std::vector<ReferenceSet> kSets = [] {
    std::vector<ReferenceSet> sets;
    for (const EmbeddedFile& file : embedded_references()) {
      sets.push_back(parse_reference_set(file.content, file.name));
    }
    return sets;
  }();
  return kSets;
}

std::vector<Record> reference_records() {
  std::vector<Record> records;
  for (const ReferenceSet& set : reference_sets()) {
    records.insert(records.end(), set.records.begin(), set.records.end());
  }
  return records;
}

}  // namespace tacho
