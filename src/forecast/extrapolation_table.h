#pragma once

#include <span>
#include <string>

#include "forecast/scaling_fit.h"
#include "report/table.h"

namespace tacho {

// Each series of the records that has the devices of `from`, continued to `devices`, beside what is there of
// these. Throws UserError where no series has them.
std::string format_extrapolation(std::span<const Record> records, std::span<const int> from,
                                 std::span<const int> devices, const Layout& layout);

}  // namespace tacho
