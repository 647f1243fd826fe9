#pragma once

#include <span>
#include <string>

#include "base/json.h"
#include "results/record.h"

namespace tacho {

// Where and how a page was made.
struct PageOrigin {
  std::string generated;  // ISO 8601, UTC
  std::string version;    // of tacho
  std::string command;    // that makes the page again
  std::string machine;    // id of the machine that made it
};

// What the page's scripts draw. They decide nothing about which records belong together or how they compare:
//   fields    of the record: name, header, role, column, number
//   sets      source and protocol of the published sets, by name
//   hosts     what records say about their machine; a record's `system` is the place of its own in this list
//   records   as in --format json but for these three
//   systems   one a machine or published system and engine: name, engine, set, machine, and `beside` where it
//             is shown at first, beside what was measured
//   places    for each record [system, case, whether it is the latest of its case, its figures by unit]
//   units     of these figures
//   outcomes  unit, answer, refusals and marks of comparisons
//   pairings  [a, b, pairs] for each two systems that `tacho compare A B` would compare; each pair is
//             [record of a, record of b, outcome], then [ratio, low, high] where it was not refused, then
//             both values where they are not the records' own
Json page_data(std::span<const Record> records, const PageOrigin& origin);

}  // namespace tacho
