#pragma once

#include <span>

#include "report/grid.h"
#include "results/record.h"

namespace tacho {

// The DGX-1 report's second table, devices by total batch: ms per pass, a row for each number of devices,
// ours and then the published ones. Times that are not simply valid have a ~ before them.
Grid grid_table(std::span<const Record> records, std::span<const Record> published);

// What that report asked and left open, why more devices may take longer: for each of our cells where the
// time went, as means over the devices, the sum of these parts beside the whole pass, what was moved between
// devices, and the speed-up over one device with the same total batch.
Grid grid_parts_table(std::span<const Record> records);

}  // namespace tacho
