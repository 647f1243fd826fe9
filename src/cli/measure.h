#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/case.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"
#include "results/record.h"

namespace tacho {

struct MeasureOptions {
  OutputOptions output;
  StoreOptions store;
  bool without_store = false;
  std::string system;                  // empty: the host's name
  std::optional<std::string> resumed;  // a run's id, or empty for the last one
};

// Where results go, without how to go on with a run.
void add_keep_options(Command command, MeasureOptions& options);
void add_measure_options(Command command, MeasureOptions& options);

// Throws UserError for a name that could never be asked for again.
void check_system_name(const std::string& name);

// What a call measures, and how it shows that.
struct Job {
  std::vector<Case> cells;
  std::string suite = {};
  bool interleaved = false;  // cells take turns, pass by pass
  std::function<std::string(std::span<const Record>, Format)> present = [](auto records, Format format) {
    return format_records(records, format);
  };
};

// Runs every cell that the resumed run lacks, keeps each in the store as it is finished, and prints them all,
// also after Ctrl-C. Throws UserError before the first one runs if any of them is wrong.
void measure_and_report(const Job& job, const MeasureOptions& options, CommandContext& context);

}  // namespace tacho
