#pragma once

#include "cli/commands.h"
#include "cli/output.h"

namespace tacho {

// `tacho suite nodes`: all hosts of the launcher side by side; status 1 where one of them is slow.
void run_nodes_suite(const OutputOptions& output, double scale, CommandContext& context);

}  // namespace tacho
