#pragma once

#include <optional>
#include <span>

#include "bench/case.h"
#include "bench/measurement.h"
#include "results/record.h"

namespace tacho {

std::string unique_id();

// A new record with these fields.
Record describe(const Json& fields, std::string_view kind);

// Where the time of passes went: the phases of training, and all parts where devices share them. `hosts` by
// rank.
void add_parts(const JointPasses& passes, std::span<const std::string> hosts, bool training, Record& record);

// A record with what a cell asks for, and without what it gave.
Record describe_case(const Case& cell);

// Interprets what a cell gave. `speed` is what the machine does at most with the cell's threads.
Record make_record(const Case& cell, const Measurement& measurement, const SystemInfo& system,
                   const std::optional<DeviceSpeed>& speed);

}  // namespace tacho
