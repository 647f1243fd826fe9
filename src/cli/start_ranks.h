#pragma once

#include "cli/commands.h"

namespace tacho {

// Runs this same call on so many ranks of this machine instead of here: they print, and the call ends as they
// do. Throws UserError where this build or machine cannot.
void start_ranks(int devices, const std::string& after_loss, CommandContext& context);

}  // namespace tacho
