#pragma once

#include <span>

#include "results/record.h"

namespace tacho {

// The record of one device among `records` that shows what several of them could do at best: each with the
// same batch as the one, or all together with the one's. Null where there is none.
const Record* find_one_device(const Record& record, std::span<const Record> records);

// Speed-up over one device, and by which parts of a pass the devices are slower than linear. Nothing where
// cores were shared: that is no speed-up of devices.
void add_scaling(const Record& one_device, Record& record);

}  // namespace tacho
