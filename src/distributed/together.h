#pragma once

#include <functional>

#include "distributed/communicator.h"

namespace tacho {

// Runs `step` on every rank. What it throws on one of them is thrown on all, so that none waits for the
// others: UserError, OutOfMemory or std::runtime_error, with the text of the first rank that failed.
void together(Communicator& ranks, const std::function<void()>& step);

// Runs work that is made of together() and of messages, on every rank. What together() throws passes through.
// Anything else is thrown on this rank alone while the others wait for it: where there are others it becomes
// a std::runtime_error, which nobody takes for what all ranks know of, and which ends them.
void in_step(Communicator& ranks, const std::function<void()>& work);

}  // namespace tacho
