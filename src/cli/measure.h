#pragma once

#include <string>
#include <vector>

#include "bench/case.h"
#include "cli/commands.h"
#include "cli/output.h"

namespace tacho {

struct MeasureOptions {
  OutputOptions output;
  std::string system;  // empty: the host's name
};

void add_measure_options(CLI::App& command, MeasureOptions& options);

// Runs every cell and prints the finished ones, also after Ctrl-C. Throws UserError before the first one runs
// if any of them is wrong.
void measure_and_report(const std::vector<Case>& cells, const MeasureOptions& options,
                        CommandContext& context);

}  // namespace tacho
