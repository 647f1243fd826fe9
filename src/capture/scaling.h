#pragma once

#include <span>

#include "results/record.h"

namespace tacho {

// Where `records` have what one device does with the same batch, or with that of all devices together: the
// speed-up over it, and by which parts of a pass the devices are slower than linear. Nothing where cores were
// shared: that is no speed-up of devices.
void add_scaling(std::span<const Record> records, Record& record);

}  // namespace tacho
