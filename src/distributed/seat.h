#pragma once

#include "distributed/world.h"

namespace tacho {

// This rank's threads on its own cores, when the first `devices` ranks are at work with so many threads each.
// On all cores where there are not enough for everybody.
void take_seat(const World& world, int devices, int threads);

}  // namespace tacho
