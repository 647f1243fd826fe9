#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/load.h"
#include "base/machine_speed.h"

namespace tacho {

// What about a machine's state makes measurements less sure, each in one line.
std::vector<std::string> noise_warnings(const CpuInfo& cpu, const LoadInfo& load);

// Of this machine now; watches it for a moment.
std::vector<std::string> noise_warnings();

// The machine's speed by number of threads, each measured when first asked for.
class SpeedCache {
 public:
  const MachineSpeed& with_threads(int threads);

 private:
  std::map<int, MachineSpeed> speeds_;
};

}  // namespace tacho
