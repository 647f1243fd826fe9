#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "results/record.h"

namespace tacho {

using Json = nlohmann::ordered_json;

// When a field is a column of a table.
enum class Column {
  never,
  always,
  differing,  // where records differ in it; otherwise it belongs above the table
  present,    // where any record has it
};

// One field of the record. This one table makes JSON, CSV and the columns of tables.
struct Field {
  std::string_view name;
  Json (*get)(const Record&);  // null: does not apply, and is left out
  Column column = Column::never;
  std::string_view header = {};                  // with its unit
  std::string (*text)(const Record&) = nullptr;  // for people; empty: does not apply
  bool number = false;                           // aligned to the right
};

std::span<const Field> fields();

// The fields that apply, in the table's order.
Json to_json(const Record& record);

Json to_json(const SystemInfo& system);

}  // namespace tacho
