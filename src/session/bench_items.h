#pragma once

#include <memory>
#include <vector>

#include "bench/case.h"
#include "results/profile.h"
#include "session/item.h"

namespace tacho {

using WorkItems = std::vector<std::unique_ptr<WorkItem>>;

// Cells that are measured one after the other.
WorkItems bench_items(std::vector<Case> cells);

// One item whose cells take turns, pass by pass.
WorkItems turns_item(std::vector<Case> cells);

// Where the time of a pass goes; `profile` gets it.
WorkItems profile_item(const Case& cell, std::optional<Profile>& profile);

}  // namespace tacho
