#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bench/case.h"

namespace tacho {

// A sweep worth a name.
struct Suite {
  std::string_view name;
  std::string_view purpose;
  std::vector<Case> (*cases)(int usable_cores);
};

// The same cells with fewer passes: `scale` (0..1] of them, but at least one warm-up and three timed ones.
// Sizes stay, since another batch or image would be another measurement.
std::vector<Case> scaled(std::vector<Case> cells, double scale);

std::span<const Suite> suites();

// Throws UserError that names the suites there are.
const Suite& find_suite(std::string_view name);

}  // namespace tacho
