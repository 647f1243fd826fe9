#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributed/pass.h"

namespace tacho {

enum class Status { measured, out_of_memory, failed, interrupted };

// What running one case gave, without interpretation: every timed pass, in order.
struct Measurement {
  Status status = Status::measured;
  std::string reason = {};  // in words, unless measured

  std::vector<double> samples_ms = {};  // whole passes
  PhaseSamples phases = {};             // of them, in training
  std::optional<double> compile_ms = {};
  int64_t flop = 0;   // of one pass, by the convention of graph/cost.h; 0 where the engine computes nothing
  int64_t bytes = 0;  // of one pass, as counted there
  int64_t peak_memory_bytes = 0;
  int64_t plan_memory_bytes = 0;
};

}  // namespace tacho
