#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"

namespace tacho {

// Whether the record is what was wanted, as far as that describes it.
bool is_record_of(const Record& record, const Record& wanted);

// What all records of a run share: cells measured elsewhere or for another suite are not its missing ones.
struct RunOrigin {
  std::string suite;  // empty: `tacho bench`
  std::string machine_id, system_name;
};

// The run whose id begins with `id_prefix`, or where that is empty the last one of this origin. Throws
// UserError where there is none, more than one, or one of another origin.
std::vector<Record> find_run(std::span<const Record> records, std::string_view id_prefix,
                             const RunOrigin& origin);

// For each wanted record that of the run, nothing where it is still to be measured: cells that failed are,
// those that did not fit into memory are not. Throws UserError where the run holds none of them.
std::vector<std::optional<Record>> match_records(std::span<const Record> run, std::span<const Record> wanted);

}  // namespace tacho
