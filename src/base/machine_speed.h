#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

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

// What GPUs were measured to do at most, all at once.
struct GpuSpeed {
  std::string device = {};  // as it was asked for
  int devices = 0;
  std::string precision = {};
  int64_t product_rows = 0;   // of each of the two square matrices whose product was measured
  double product_gflops = 0;  // 0 where it could not be measured
  Carried carried = {};
};

using DeviceSpeed = std::variant<MachineSpeed, GpuSpeed>;

}  // namespace tacho
