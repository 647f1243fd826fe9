#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/record.h"

namespace tacho {

// Records under the name by which the user asked for them.
struct Selection {
  std::string name;
  std::vector<Record> records;  // as latest_with_figures() says
};

// What a user means by a word, tried in this order:
//   this             what was measured on this machine
//   dgx1-v100        a published set; SET/PART only the systems whose name contains PART
//   a run's id, or how it begins (at least 4 characters)
//   a system's name, an engine's name
// Behind it may stand /FIELD=VALUE, as in `this/threads=1`: only the records with that value.
// `run:`, `system:`, `engine:` and `reference:` before it leave only that meaning. Records of the null
// engine, which computes nothing, are only found by run and engine. Throws UserError where nothing is meant
// by it.
Selection select_records(std::string_view word, std::span<const Record> stored,
                         std::string_view this_machine);

// For each record the number of its case, counted from 0 as they appear. Records of one case are by the same
// system of the same work done by the same means: the same measurement, repeated. Simulated ones are cases of
// their own.
std::vector<size_t> case_numbers(std::span<const Record> records);

// Of each number whether it is the last of its kind.
std::vector<bool> latest_of_each_case(std::span<const size_t> numbers);

// Where those stand that are compared: of each case the latest that has figures. Simulated ones only where
// there are no others, as in their own run or behind /verdict=simulated.
std::vector<size_t> latest_with_figures(std::span<const Record> records);

Selection selection_of(std::string name, std::span<const Record> records);

}  // namespace tacho
