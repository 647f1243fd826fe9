#pragma once

#include <memory>
#include <span>
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

// Whether several engines that compute, several of their devices, or several precisions are asked for.
bool compare_means(std::span<const Case> cells);

// Cells that do the same work take turns, so that their engines, devices and precisions can be compared; one
// work after the other.
WorkItems items_in_turns(std::vector<Case> cells);

// Where the time of a pass goes; `profile` gets it, with a simulation of so many threads where that is
// wanted.
WorkItems profile_item(const Case& cell, std::optional<int> threads_simulated,
                       std::optional<Profile>& profile);

}  // namespace tacho
