#pragma once

#include <optional>

#include "bench/case.h"
#include "bench/measurement.h"
#include "results/record.h"

namespace tacho {

// Interprets what a cell gave. `peak_gflops` is the machine's measured peak on the cell's threads.
Record make_record(const Case& cell, const Measurement& measurement, const SystemInfo& system,
                   std::optional<double> peak_gflops);

}  // namespace tacho
