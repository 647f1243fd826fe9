#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "report/table.h"
#include "results/profile.h"

namespace tacho {

// Below this an efficiency is weak: threads wait for more than half of the time.
inline constexpr double kWeakEfficiency = 0.5;

// The share of work that each thread would have if all had the same, over the largest one.
double efficiency(const SimulatedSplit& split, int threads);

// Of a pass, by the measured time of its steps.
struct SimulationSummary {
  int own_steps = 0, weak_steps = 0, onednn_steps = 0;
  double own_percent = 0, weak_percent = 0, onednn_percent = 0;
  // At most so many times as fast as with one thread, by splits alone: our steps, where there are any; and
  // the whole pass, if the library's steps were split without loss.
  std::optional<double> own_speedup = {};
  double pass_speedup = 1;
};
SimulationSummary summary_of(const Profile& profile);

// Of a profile with a simulation. table, md: the whole pass, its steps in order of execution (only the `top`
// most expensive where given) and a summary. csv: a line a step. json, jsonl: one object.
std::string format_simulation(const Profile& profile, const Layout& layout, std::optional<size_t> top = {});

}  // namespace tacho
