#pragma once

#include <span>
#include <string>

#include "report/table.h"
#include "results/selection.h"

namespace tacho {

// The first selection against each other one. The columns that all pairs share stand above the table.
std::string format_comparison(std::span<const Selection> selections, const Layout& layout);

// Whether any answer is that the first is slower, and it takes more than 1 + `share` times as long: 0.05 is 5
// %.
bool any_slower(std::span<const Selection> selections, double share);

}  // namespace tacho
