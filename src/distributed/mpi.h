#pragma once

#include <memory>
#include <string>

#include "distributed/communicator.h"

namespace tacho {

// "Open MPI 4.1.4"; empty where this build has none.
std::string mpi_version();

// All ranks that the launcher of this process started, until the end of the program. Throws UserError where
// this build has no MPI.
std::unique_ptr<Communicator> join_ranks();

// Ends every rank at once, whatever they do; any thread may call it.
[[noreturn]] void end_all_ranks(int status);

}  // namespace tacho
