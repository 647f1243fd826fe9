#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bench/case.h"
#include "session/sweep.h"
#include "train/recipe.h"

namespace tacho {

// What a suite runs on.
struct SuiteMachine {
  ThreadsPerDevice threads;
  std::vector<int64_t> devices =
      {};  // of those that a suite has; empty: every number that there are cores for
};

// A sweep worth a name.
struct Suite {
  std::string_view name;
  std::string_view purpose;
  std::vector<Case> (*cases)(const SuiteMachine& machine) = nullptr;
  std::vector<Recipe> (*trainings)(const SuiteMachine& machine) =
      nullptr;                  // instead of cases; their data is still to be named
  bool compares_hosts = false;  // instead of both: check_nodes()
  bool runs_volumes = false;    // instead of all: volume_work()
};

// Of the report's numbers of devices those that are to be run. Throws UserError where there are none.
std::vector<int> devices_of(const std::vector<int>& report, const SuiteMachine& machine);

// The same cells with fewer passes: `scale` (0..1] of them, but at least one warm-up and three timed ones.
// Sizes stay, since another batch or image would be another measurement; of batches that are scattered those
// beyond `scale` of the largest are left out, but the smallest two stay.
std::vector<Case> scaled(std::vector<Case> cells, double scale);

// The same trainings on fewer images: `scale` of `images`, but at least two batches.
std::vector<Recipe> scaled(std::vector<Recipe> trainings, double scale, int64_t images);

std::span<const Suite> suites();

// Throws UserError that names the suites there are.
const Suite& find_suite(std::string_view name);

}  // namespace tacho
