#pragma once

#include <optional>
#include <span>
#include <string>

#include "forecast/job.h"
#include "report/table.h"

namespace tacho {

// Time, and cost where there is a price, of the job on each record's machine, fastest first. Throws UserError
// where no record says anything about it.
std::string format_forecast(std::span<const Record> records, const JobSize& job,
                            std::optional<double> price_per_hour, const Layout& layout);

}  // namespace tacho
