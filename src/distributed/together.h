#pragma once

#include <functional>

#include "distributed/communicator.h"

namespace tacho {

// Runs `step` on every rank. What it throws on one of them is thrown on all, so that none waits for the
// others: UserError, OutOfMemory or std::runtime_error, with the text of the first rank that failed.
void together(Communicator& ranks, const std::function<void()>& step);

}  // namespace tacho
