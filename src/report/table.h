#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "report/grid.h"
#include "results/record.h"

namespace tacho {

enum class Format { table, md, csv, json, jsonl };

// Throws UserError that names the formats there are.
Format parse_format(std::string_view name);

// Others are for programs, and hold every figure at its full precision.
bool is_for_people(Format format);

// A format, and the room there is for it.
struct Layout {
  Layout(Format chosen, size_t columns = 0) : format(chosen), width(columns) {}

  Format format;
  size_t width;  // of the terminal, for tables; 0: unlimited
};

// A grid for people.
std::string render(const Grid& grid, const Layout& layout);

// A list of objects for programs. json: as it is. jsonl: one object a line. csv: a column for each entry that
// any of them has, those of objects inside as "outer.inner".
std::string format_objects(const Json& list, Format format);

// table, md: the columns that differ or matter, under a line with what all records share.
// csv: every field, lists and objects as JSON. json: an array. jsonl: one object a line.
// `identified`: tables also show each record's id, time and machine.
std::string format_records(std::span<const Record> records, const Layout& layout, bool identified = false);

}  // namespace tacho
