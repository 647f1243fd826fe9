#include "session/peaks.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "engine/engines.h"
#include "kernels/peak/peak.h"

namespace tacho {
namespace {

constexpr int64_t kProductRows = 8192;  // enough to keep any GPU busy

MachineSpeed measure(World& world, const DeviceThreads& devices) {
  const std::unique_ptr<Communicator> ranks = world.all().first(devices.devices);
  if (!ranks) return {};
  // Ranks that share cores would each find its best moment, and the sum be more than the machine has.
  if (devices.devices > 1 && !world.has_cores_for(devices.devices, devices.threads)) return {};
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

GpuSpeed measure(World& world, const GpusAtWork& gpus) {
  GpuSpeed speed = {.device = gpus.device,
                    .devices = gpus.devices,
                    .precision = gpus.precision,
                    .product_rows = kProductRows};
  const std::unique_ptr<Communicator> ranks = world.all().first(gpus.devices);
  if (!ranks) return speed;
  const std::string own_gpu =
      device_of({.engine = gpus.engine, .device = gpus.device}, world.seat(gpus.devices).index);
  barrier(*ranks);
  const double own =
      find_engine(gpus.engine).measure_product_gflops(own_gpu, gpus.precision, kProductRows).value_or(0);
  const std::vector<double> all = all_gather(*ranks, std::span(&own, 1));
  if (std::ranges::find(all, 0) == all.end())
    speed.product_gflops = std::accumulate(all.begin(), all.end(), 0.0);
  return speed;
}

}  // namespace

DeviceSpeed measure_speed_together(World& world, const DevicesAtWork& devices) {
  return std::visit([&](const auto& kind) -> DeviceSpeed { return measure(world, kind); }, devices);
}

std::vector<GpuSpeed> measure_gpus(const std::vector<EngineInfo>& engines) {
  std::vector<GpuSpeed> speeds;
  for (const EngineInfo& engine : engines) {
    for (const auto& [device, precisions] : engine.precisions) {
      for (const std::string& precision : device == kCpu ? std::vector<std::string>() : precisions) {
        const auto gflops = find_engine(engine.name).measure_product_gflops(device, precision, kProductRows);
        if (gflops) speeds.push_back({device, 1, precision, kProductRows, *gflops});
      }
    }
  }
  return speeds;
}

}  // namespace tacho
