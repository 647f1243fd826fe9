#pragma once

#include "base/machine_speed.h"
#include "session/item.h"

namespace tacho {

// What these devices do at most when all are at work, added up. All ranks at once, also those that have no
// part and learn nothing.
DeviceSpeed measure_speed_together(World& world, const DevicesAtWork& devices);

// Of each GPU alone, in each precision, by the engines that can tell.
std::vector<GpuSpeed> measure_gpus(const std::vector<EngineInfo>& engines);

}  // namespace tacho
