#pragma once

#include <optional>
#include <string>

#include "base/energy.h"
#include "base/gpu.h"
#include "engine/engine.h"

namespace tacho {

// What the CPU's packages or one GPU have used since it was made. Others' work counts too.
class DeviceEnergy {
 public:
  DeviceEnergy(const Engine& engine, const std::string& device);

  // Nothing where the device does not tell.
  std::optional<double> joules() const;

 private:
  std::optional<EnergyMeter> cpu_;
  std::optional<GpuDriver> gpus_;
  std::string bus_id_;
  std::optional<double> begin_;  // of the GPU
};

}  // namespace tacho
