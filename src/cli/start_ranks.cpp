#include "cli/start_ranks.h"

#include <fmt/format.h>

#include "base/error.h"
#include "cli/interrupt.h"
#include "distributed/launch.h"
#include "distributed/mpi.h"

namespace tacho {

void start_ranks(int devices, const std::string& after_loss, CommandContext& context) {
  if (mpi_version().empty())
    throw UserError("--devices {}: this build has no MPI; install libopenmpi-dev and build again", devices);
  const LaunchEnd end = start_local_ranks(devices, context.arguments, after_loss);
  for (const std::string& line : end.words) fmt::print(stderr, "{}\n", line);
  if (end.interrupted) fmt::print(stderr, "tacho: note: interrupted before the devices were ready\n");
  context.exit_status = end.interrupted ? kInterruptedStatus : end.status;
}

}  // namespace tacho
