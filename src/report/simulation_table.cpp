#include "report/simulation_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/json_values.h"
#include "results/format.h"
#include "results/record_json.h"
#include "results/statistics.h"

namespace tacho {
namespace {

double ms_of_step(const SimulatedStep& step) { return median(step.samples_ms); }

double sum_of_steps_ms(const Simulation& simulation) {
  double sum = 0;
  for (const SimulatedStep& step : simulation.steps) sum += ms_of_step(step);
  return sum;
}

double percent_of_steps(double ms, const Profile& profile) {
  return 100 * ms / sum_of_steps_ms(*profile.simulation);
}

// "160 + 3 x 36": one loop after the other, some of them several times.
std::string items_text(const SimulatedSplit& split) {
  std::string text;
  for (const auto& [items, rounds] : split.loops) {
    if (!text.empty()) text += " + ";
    text += rounds == 1 ? fmt::format("{}", items) : fmt::format("{} x {}", rounds, items);
  }
  return text;
}

std::vector<std::string> split_cells(const SimulatedStep& step, int threads) {
  if (!step.split) return {"oneDNN's own", "", ""};
  return {items_text(*step.split), format_significant(100 * step.split->largest_share, 3),
          fmt::format("{:.2f}", efficiency(*step.split, threads))};
}

std::vector<std::string> step_cells(const SimulatedStep& step, double ms, const Profile& profile) {
  return {step.layer, step.kernel, format_significant(ms, 3),
          fmt::format("{:.1f}", percent_of_steps(ms, profile))};
}

std::string counted(int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

// So many milliseconds or more are shown.
double least_shown_ms(const Simulation& simulation, std::optional<size_t> top) {
  if (!top || *top >= simulation.steps.size()) return 0;
  std::vector<double> times;
  for (const SimulatedStep& step : simulation.steps) times.push_back(ms_of_step(step));
  std::ranges::sort(times, std::greater());
  return times[*top - 1];
}

Grid step_grid(const Profile& profile, std::optional<size_t> top) {
  const Simulation& simulation = *profile.simulation;
  Grid grid = {.columns = {{"layer", false, Importance::most},
                           {"kernel"},
                           {"ms", true},
                           {"% of pass", true},
                           {"work items", true, Importance::most},
                           {"largest share %", true, Importance::much},
                           {"efficiency", true, Importance::most}},
               .rows = {}};
  const double least_ms = least_shown_ms(simulation, top);
  size_t left_out = 0;
  double left_out_ms = 0;
  const auto add_row = [&](std::vector<std::string> row, const std::vector<std::string>& more) {
    row.insert(row.end(), more.begin(), more.end());
    grid.rows.push_back(std::move(row));
  };
  for (const SimulatedStep& step : simulation.steps) {
    const double ms = ms_of_step(step);
    if (ms >= least_ms) {
      add_row(step_cells(step, ms, profile), split_cells(step, simulation.threads));
      if (profile.pass.mode == "train") grid.rows.back().front() += fmt::format(", {}", step.phase);
    } else {
      ++left_out;
      left_out_ms += ms;
    }
  }
  if (left_out > 0) {
    const std::string name = counted(static_cast<int64_t>(left_out), "other step");
    add_row(step_cells({.layer = name}, left_out_ms, profile), {"", "", ""});
  }
  return grid;
}

std::string threads_text(int threads) { return counted(threads, "thread"); }

std::string introduction(const Profile& profile) {
  const int threads = profile.simulation->threads;
  return fmt::format(
      "simulated for {}, none of which ran: work items and the largest share of one of them are those "
      "that our kernels would use; the ideal share is {} %. Times and the choice of kernels are of {}\n",
      threads_text(threads), format_significant(100.0 / threads, 3), threads_text(profile.pass.threads));
}

std::string summary_text(const Profile& profile) {
  const SimulationSummary summary = summary_of(profile);
  const int threads = profile.simulation->threads;
  std::string text;
  if (summary.own_speedup) {
    text += fmt::format(
        "our {}, {:.1f} % of the time: by their splits alone at most {:.1f} times as fast on {} as on "
        "one\n{} of them with an efficiency below {}: {:.1f} % of the time\n",
        counted(summary.own_steps, "step"), summary.own_percent, *summary.own_speedup, threads_text(threads),
        summary.weak_steps, kWeakEfficiency, summary.weak_percent);
  }
  if (summary.onednn_steps > 0) {
    text += fmt::format(
        "oneDNN's own {}, {:.1f} % of the time: how it splits them is not known here; if without loss, "
        "the pass is at most {:.1f} times as fast\n",
        counted(summary.onednn_steps, "step"), summary.onednn_percent, summary.pass_speedup);
  }
  return text;
}

Json steps_json(const Simulation& simulation) {
  Json list = Json::array();
  for (const SimulatedStep& step : simulation.steps) {
    Json object = {{"layer", step.layer},
                   {"phase", step.phase},
                   {"kernel", step.kernel},
                   {"median_ms", ms_of_step(step)},
                   {"onednn", !step.split}};
    if (step.split) {
      Json loops = Json::array();
      for (const auto& [items, rounds] : step.split->loops)
        loops.push_back({{"items", items}, {"rounds", rounds}});
      object["loops"] = std::move(loops);
      object["largest_share_percent"] = 100 * step.split->largest_share;
      object["efficiency"] = efficiency(*step.split, simulation.threads);
    }
    list.push_back(std::move(object));
  }
  return list;
}

Json simulation_json(const Profile& profile) {
  const SimulationSummary summary = summary_of(profile);
  Json result = {{"case", to_json(profile.pass)},
                 {"simulated", true},
                 {"threads_simulated", profile.simulation->threads},
                 {"ideal_share_percent", 100.0 / profile.simulation->threads},
                 {"steps", steps_json(*profile.simulation)},
                 {"own_steps", summary.own_steps},
                 {"own_percent", summary.own_percent},
                 {"weak_efficiency", kWeakEfficiency},
                 {"weak_steps", summary.weak_steps},
                 {"weak_percent", summary.weak_percent},
                 {"onednn_steps", summary.onednn_steps},
                 {"onednn_percent", summary.onednn_percent},
                 {"pass_speedup_at_most", summary.pass_speedup}};
  if (summary.own_speedup) result["own_speedup_at_most"] = *summary.own_speedup;
  return result;
}

}  // namespace

double efficiency(const SimulatedSplit& split, int threads) { return 1 / (threads * split.largest_share); }

SimulationSummary summary_of(const Profile& profile) {
  const Simulation& simulation = *profile.simulation;
  SimulationSummary summary;
  // With one thread and with the simulated ones.
  double own_one_ms = 0, own_many_ms = 0, library_one_ms = 0;
  for (const SimulatedStep& step : simulation.steps) {
    const double ms = ms_of_step(step), percent = percent_of_steps(ms, profile);
    if (!step.split) {
      ++summary.onednn_steps;
      summary.onednn_percent += percent;
      library_one_ms += ms * profile.pass.threads;
      continue;
    }
    ++summary.own_steps;
    summary.own_percent += percent;
    own_one_ms += ms / step.split->measured_share;
    own_many_ms += ms / step.split->measured_share * step.split->largest_share;
    if (efficiency(*step.split, simulation.threads) >= kWeakEfficiency) continue;
    ++summary.weak_steps;
    summary.weak_percent += percent;
  }
  if (own_many_ms > 0) summary.own_speedup = own_one_ms / own_many_ms;
  summary.pass_speedup = (own_one_ms + library_one_ms) / (own_many_ms + library_one_ms / simulation.threads);
  return summary;
}

std::string format_simulation(const Profile& profile, const Layout& layout, std::optional<size_t> top) {
  if (is_for_people(layout.format)) {
    return fmt::format("{}\n{}\n{}\n{}", format_records({&profile.pass, 1}, layout),
                       wrap(introduction(profile), layout.width), render(step_grid(profile, top), layout),
                       wrap(summary_text(profile), layout.width));
  }
  if (layout.format == Format::csv) return format_objects(steps_json(*profile.simulation), Format::csv);
  return to_text(simulation_json(profile), layout.format == Format::json ? 2 : -1) + "\n";
}

}  // namespace tacho
