#pragma once

#include <string_view>
#include <vector>

#include "base/json_values.h"
#include "results/record.h"

namespace tacho {

// The fields that apply, in the order of results/fields.h.
Json to_json(const Record& record);
Json json_of(const SystemInfo& system);
Json json_of(const MachineSpeed& speed);
Json json_of(const Epoch& epoch);

// The reverse. Throws UserError for what to_json() would not have written: a missing or unknown field, a
// value of another type, figures that do not follow from their samples, a newer schema.
Record record_from_json(const Json& json);
void read(const Json& json, SystemInfo& system);
void read(const Json& json, MachineSpeed& speed);
void read(const Json& json, Epoch& epoch);

// The records of a text in --format json or jsonl. Errors name `source` and the record.
std::vector<Record> parse_records(std::string_view text, std::string_view source);

}  // namespace tacho
