#pragma once

#include <string>
#include <vector>

#include "bench/case.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"

namespace tacho {

struct MeasureOptions {
  OutputOptions output;
  StoreOptions store;
  bool without_store = false;
  std::string system;  // empty: the host's name
};

void add_measure_options(CLI::App& command, MeasureOptions& options);

// Runs every cell, keeps each in the store as it is finished, and prints them, also after Ctrl-C. Throws
// UserError before the first one runs if any of them is wrong.
void measure_and_report(const std::vector<Case>& cells, const MeasureOptions& options,
                        CommandContext& context);

}  // namespace tacho
