#pragma once

#include <span>

#include "report/grid.h"
#include "results/record.h"

namespace tacho {

// The Keras report's table of training runs: for each network the rows of this machine, engine by engine,
// then the published ones with as many devices. A corrected figure stands in brackets behind the published
// one.
Grid cifar_table(std::span<const Record> records, std::span<const Record> published);

}  // namespace tacho
