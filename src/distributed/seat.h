#pragma once

#include "distributed/world.h"
#include "engine/execution.h"

namespace tacho {

// This rank's threads on its own cores, when the first `devices` ranks are at work with so many threads each.
// On all cores where there are not enough for everybody.
void take_seat(const World& world, int devices, int threads);

// Throws UserError where this machine has not the device that this rank would compute on, or, where the
// devices are still to be started on it, has too few.
void check_seat(const World& world, const Execution& execution);

}  // namespace tacho
