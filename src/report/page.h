#pragma once

#include <span>
#include <string>

#include "base/json_values.h"
#include "results/record.h"

namespace tacho {

// Where and how a page was made.
struct PageOrigin {
  std::string generated;  // ISO 8601, UTC
  std::string version;    // of tacho
  std::string command;    // that makes the page again
  std::string machine;    // id of the machine that made it
};

// What the page's script reads: the origin, `sets` with the source and protocol of published sets by name,
// and `records` as in --format json without these.
Json page_data(std::span<const Record> records, const PageOrigin& origin);

// One file that needs nothing else: markup, style, Chart.js, the scripts of report/page/ and the data.
std::string html_page(const Json& data);

}  // namespace tacho
