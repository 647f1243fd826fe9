#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"

namespace tacho {

// Published results of one source: docs/references.md describes the file they come from.
struct ReferenceSet {
  std::string name, title, source, protocol;
  std::vector<Record> records;  // one a measurement, each with its source, protocol, error and correction
};

// Throws UserError that names `file` and what is wrong in it.
ReferenceSet parse_reference_set(std::string_view text, std::string_view file);

// Those that are part of the program.
const std::vector<ReferenceSet>& reference_sets();

std::vector<Record> reference_records();

}  // namespace tacho
