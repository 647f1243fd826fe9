#pragma once

#include <span>

#include "report/grid.h"
#include "results/record.h"

namespace tacho {

// The table of the pytorch_throughput report: a row for each number of devices, ours as they were measured,
// then those that were simulated, then the published ones. Forward, backward (with exchange and update, as
// there) and overall throughput, the speed-up of each over one device of the same row's kind, and by which
// parts a pass takes longer than on one device. What is oversubscribed is noted and has no speed-up.
Grid scaling_table(std::span<const Record> records, std::span<const Record> published);

}  // namespace tacho
