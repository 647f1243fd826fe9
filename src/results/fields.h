#pragma once

#include <span>
#include <string>
#include <string_view>

#include "results/json_values.h"
#include "results/record.h"

namespace tacho {

// When a field is a column of a table.
enum class Column {
  never,
  always,
  differing,  // where records differ in it; otherwise it belongs above the table
  present,    // where any record has it
};

// How a field is taken out of a record and put back.
struct Access {
  Json (*get)(const Record&);               // null: does not apply, and is left out
  void (*set)(Record&, const Json& value);  // throws UserError that says what the value must be
  bool plain = true;                        // one text or number: fits into a cell
};

// One field of the record. This one table makes JSON, CSV, the columns of tables and those of the store.
struct Field {
  std::string_view name;
  Access access;
  Column column = Column::never;
  std::string_view header = {};                  // with its unit
  std::string (*text)(const Record&) = nullptr;  // for people; empty: does not apply
  bool number = false;                           // aligned to the right
};

std::span<const Field> fields();

}  // namespace tacho
