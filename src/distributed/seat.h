#pragma once

#include "distributed/world.h"
#include "engine/execution.h"

namespace tacho {

// This rank's threads on its own cores, when the first `devices` ranks are at work with so many threads each.
// On all cores where there are not enough for everybody.
void take_seat(const World& world, int devices, int threads);

// Throws UserError where this machine, on which all devices will be started, has too few. A launcher's ranks
// find out by themselves.
void check_seats(const Execution& execution);

}  // namespace tacho
