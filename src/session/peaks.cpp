#include "session/peaks.h"

#include <array>

#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "kernels/peak/peak.h"

namespace tacho {

MachineSpeed measure_speed_together(World& world, const DeviceThreads& devices) {
  const std::unique_ptr<Communicator> ranks = world.all().first(devices.devices);
  if (!ranks) return {};
  take_seat(world, devices.devices, devices.threads);
  barrier(*ranks);
  const MachineSpeed own = measure_speed(devices.threads);
  const std::array numbers = {own.fma_gflops, own.bandwidth_gbs, own.bf16_gflops.value_or(0)};
  MachineSpeed sum = {.threads = devices.threads * devices.devices};
  const std::vector<double> all = all_gather(*ranks, numbers);
  for (size_t i = 0; i < all.size(); i += numbers.size()) {
    sum.fma_gflops += all[i];
    sum.bandwidth_gbs += all[i + 1];
    if (own.bf16_gflops) sum.bf16_gflops = sum.bf16_gflops.value_or(0) + all[i + 2];
  }
  return sum;
}

}  // namespace tacho
