#pragma once

#include <span>
#include <string>
#include <string_view>

#include "results/record.h"

namespace tacho {

enum class Format { table, md, csv, json, jsonl };

// Throws UserError that names the formats there are.
Format parse_format(std::string_view name);

// table, md: the columns that differ or matter, under a line with what all records share.
// csv: every field, lists and objects as JSON. json: an array. jsonl: one object a line.
// `identified`: tables also show each record's id, time and machine.
std::string format_records(std::span<const Record> records, Format format, bool identified = false);

}  // namespace tacho
