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

}  // namespace tacho
