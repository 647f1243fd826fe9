#pragma once

#include <optional>

#include "base/carried.h"

namespace tacho {

// What a machine was measured to do at most with so many threads.
struct MachineSpeed {
  int threads = 0;
  double fma_gflops = 0;                   // single-precision multiply-adds from registers, two FLOP each
  std::optional<double> bf16_gflops = {};  // products of bf16; nothing where the CPU has none
  double bandwidth_gbs = 0;                // 0 where it could not be measured
  Carried carried = {};
};

}  // namespace tacho
