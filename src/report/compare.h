#pragma once

#include <span>
#include <string>

#include "report/table.h"
#include "results/selection.h"

namespace tacho {

// The first selection against each other one. The columns that all pairs share stand above the table.
std::string format_comparison(std::span<const Selection> selections, Format format);

}  // namespace tacho
