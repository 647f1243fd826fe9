#include "cli/start_ranks.h"

#include <fmt/format.h>

#include "base/cpu.h"
#include "base/error.h"
#include "cli/interrupt.h"
#include "distributed/launch.h"
#include "distributed/mpi.h"

namespace tacho {
namespace {

// More devices than cores show what is lost by sharing; many more would only use up the machine's memory.
constexpr int kMostDevicesOfACore = 16;

}  // namespace

void start_ranks(int devices, const std::string& after_loss, CommandContext& context) {
  if (mpi_version().empty())
    throw UserError("--devices {}: this build has no MPI; install libopenmpi-dev and build again", devices);
  if (const int most = kMostDevicesOfACore * usable_cores(); devices > most) {
    throw UserError(
        "--devices {}: {} at most on the {} cores of this machine; mpirun and srun start them on several",
        devices, most, usable_cores());
  }
  const LaunchEnd end = start_local_ranks(devices, context.arguments, after_loss);
  for (const std::string& line : end.words) fmt::print(stderr, "{}\n", line);
  if (end.interrupted) fmt::print(stderr, "tacho: note: interrupted before the devices were ready\n");
  context.exit_status = end.interrupted ? kInterruptedStatus : end.status;
}

}  // namespace tacho
