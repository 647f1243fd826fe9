#pragma once

#include <span>

#include "report/grid.h"
#include "results/record.h"

namespace tacho {

// The Keras report's table of training runs: for each network the rows of this machine, engine by engine with
// more and more devices, then the published ones with as many devices as one of them. A corrected figure
// stands in brackets behind the published one. Where any of ours ran on several devices, the speed-up over
// one.
Grid cifar_table(std::span<const Record> records, std::span<const Record> published);

}  // namespace tacho
