#pragma once

#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/load.h"

namespace tacho {

// What about a machine's state makes measurements less sure, each in one line.
std::vector<std::string> noise_warnings(const CpuInfo& cpu, const LoadInfo& load);

// Of this machine now; watches it for a moment.
std::vector<std::string> noise_warnings();

}  // namespace tacho
