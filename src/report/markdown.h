#pragma once

#include <span>
#include <string>

#include "results/record.h"

namespace tacho {

// A report to paste or to keep beside code: per machine or published set a heading, what it is, a table of
// its results for each kind, and the commands that make them again.
std::string markdown_report(std::span<const Record> records);

}  // namespace tacho
