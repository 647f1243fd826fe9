#pragma once

#include <optional>

#include "bench/case.h"
#include "bench/measurement.h"
#include "results/record.h"

namespace tacho {

std::string unique_id();

// A new record with these fields.
Record describe(const Json& fields, std::string_view kind);

void add_phases(const PhaseSamples& phases, Record& record);

// A record with what a cell asks for, and without what it gave.
Record describe_case(const Case& cell);

// Interprets what a cell gave. `speed` is what the machine does at most with the cell's threads.
Record make_record(const Case& cell, const Measurement& measurement, const SystemInfo& system,
                   const std::optional<MachineSpeed>& speed);

}  // namespace tacho
