#pragma once

#include <span>
#include <string>

#include "report/table.h"
#include "results/record.h"

namespace tacho {

// The extrapolation of the EMBL report, put right: for each system and number of devices iterations/min, days
// to 100k iterations, Mvox/s and hours for 8.1 Tvox, with what was published beside it, and the same at the
// rate at which voxels were really written. Throws UserError where no record is of a volume network.
std::string format_volume_extrapolation(std::span<const Record> records, const Layout& layout);

// The report's four tables for people, put right, with notes on what was wrong: training, prediction, days to
// 100k iterations, hours for 8.1 Tvox. The first records' system comes first.
std::string format_volume_tables(std::span<const Record> records, const Layout& layout);

}  // namespace tacho
