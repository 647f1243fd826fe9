#include "distributed/seat.h"

#include "base/cpu.h"
#include "distributed/launch.h"

namespace tacho {

void take_seat(const World& world, int devices, int threads) {
  const Seat seat = world.seat(devices);
  const bool shares_cores = seat.count > 1 && !seat.own_cores && world.has_cores_for(devices, threads);
  use_cores(shares_cores ? seat.index * threads : 0, shares_cores ? threads : 0);
  use_threads(threads);
}

void check_seat(const World& world, const Execution& execution) {
  const int devices = execution.devices;
  if (launched_ranks() == 0) {
    device_of(execution, devices - 1);
  } else if (world.rank() < devices) {
    device_of(execution, world.seat(devices).index);
  }
}

}  // namespace tacho
