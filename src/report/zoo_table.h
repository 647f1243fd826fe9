#pragma once

#include <span>

#include "report/grid.h"
#include "results/record.h"

namespace tacho {

// The DGX-1 report's table for this machine: a column a network, sorted by training time, which is forward
// and backward as there, without the update; a row for training and inference, each with the published row
// and how many times as long this machine takes below it. Times that are noisy or oversubscribed have a ~
// before them.
Grid zoo_table(std::span<const Record> records, std::span<const Record> published);

}  // namespace tacho
