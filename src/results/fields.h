#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "results/importance.h"
#include "results/record.h"

namespace tacho {

// What a field says about a measurement. Whoever asks "is this the same case" or "may these two be compared"
// asks for roles, never for a list of names.
enum class FieldRole {
  subject,      // what was measured: only records of one subject are set beside each other
  work,         // how much one pass does: where both know it and differ, they are not compared
  means,        // how it was computed: other means are another case, which may be compared
  protocol,     // how it was measured: a case measured again may have another one
  figure,       // what came out
  environment,  // where the record comes from
};

// When a field is a column of a table.
enum class Column {
  never,
  always,
  differing,  // where records differ in it; otherwise it belongs above the table
  present,    // where any record has it
};

// Which records must have a field. Whoever adds one leaves it optional: earlier records lack it.
enum class Presence {
  optional,
  measured,  // every record but published ones
  always,
};

// How a field is taken out of a record and put back.
struct Access {
  Json (*get)(const Record&);               // null: does not apply, and is left out
  void (*set)(Record&, const Json& value);  // throws UserError that says what the value must be
  bool plain = true;                        // one text or number: fits into a cell
};

// How a field is asked for on the command line, as --NAME.
struct Axis {
  // Every value that a text such as "16,32" or "1-8" lists. Throws UserError that names `option`.
  std::vector<Json> (*parse)(std::string_view option, std::string_view text) = nullptr;
  std::string_view fallback = {};  // as it would be typed; empty: depends on the network and the machine
  std::string_view help = {};
  int nesting = 0;  // of several axes the one with the largest number changes fastest
};

// One field of the record. This one table makes JSON, CSV, the columns of tables and of the store, the axes
// of a sweep, and says which records are of one case.
struct Field {
  std::string_view name;
  Access access;
  FieldRole role;
  Column column = Column::never;
  std::string_view header = {};                  // with its unit
  std::string (*text)(const Record&) = nullptr;  // for people; empty: does not apply
  bool number = false;                           // aligned to the right
  Axis axis = {};                                // without parse(): no axis
  Presence presence = Presence::optional;
  bool headline = false;  // a figure that people look for first
};

std::span<const Field> fields();

// How an axis is typed: "--bucket-mib".
std::string option_of(const Field& field);

// Null where there is none of this name.
const Field* find_field(std::string_view name);

// Gives the record the fields of an object; throws UserError that names the one that is unknown or wrong.
void set_fields(const Json& values, Record& record);

// Of its column.
Importance importance_of(const Field& field);

// Whether two records have the same value in every field of these roles.
bool agree(const Record& a, const Record& b, std::initializer_list<FieldRole> roles);

}  // namespace tacho
