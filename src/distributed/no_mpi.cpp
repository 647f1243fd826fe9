#include <cstdlib>

#include "base/error.h"
#include "distributed/mpi.h"

namespace tacho {

std::string mpi_version() { return ""; }

std::unique_ptr<Communicator> join_ranks() {
  throw UserError("several devices: this build has no MPI; install libopenmpi-dev and build again");
}

void end_all_ranks(int status) { std::_Exit(status); }

}  // namespace tacho
