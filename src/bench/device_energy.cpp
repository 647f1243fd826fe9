#include "bench/device_energy.h"

namespace tacho {

DeviceEnergy::DeviceEnergy(const Engine& engine, const std::string& device) {
  if (device == kCpu) {
    cpu_.emplace();
    return;
  }
  bus_id_ = engine.bus_id(device);
  begin_ = gpus_.emplace().joules(bus_id_);
}

std::optional<double> DeviceEnergy::joules() const {
  if (cpu_) return cpu_->joules();
  const auto now = gpus_->joules(bus_id_);
  return begin_ && now ? std::optional(*now - *begin_) : std::nullopt;
}

}  // namespace tacho
