#pragma once

#include "base/machine_speed.h"
#include "session/item.h"

namespace tacho {

// What these devices do at most when all are at work, added up. All ranks at once, also those that have no
// part and learn nothing.
MachineSpeed measure_speed_together(World& world, const DeviceThreads& devices);

}  // namespace tacho
