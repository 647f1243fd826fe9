#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distributed/joint_passes.h"

namespace tacho {

enum class Status { measured, out_of_memory, failed, interrupted };

// When some gradients were final, and how many bytes of them.
struct ReadyGradients {
  int64_t bytes = 0;
  double ready_ms = 0;  // after the backward pass began
};

// What running one case gave, without interpretation: every timed pass, in order.
struct Measurement {
  Status status = Status::measured;
  std::string reason = {};  // in words, unless measured

  JointPasses passes = {};
  std::vector<std::string> hosts = {};       // by rank
  bool has_cores = true;                     // no core had to do the work of two threads
  std::vector<ReadyGradients> buckets = {};  // of training
  std::optional<double> compile_ms = {};
  std::string exchange = {};  // of gradients between devices: Group::way()
  int64_t flop = 0;   // of one pass of all devices, by the convention of graph/cost.h; 0 where the engine
                      // computes nothing
  int64_t bytes = 0;  // of one pass, as counted there
  int64_t peak_memory_bytes = 0;  // of rank 0, as is the plan's
  int64_t plan_memory_bytes = 0;
  int64_t steps_left_out = 0;         // of training: updates whose gradients overflowed
  std::string gpu = {};               // of rank 0, where it sits
  std::optional<double> joules = {};  // of the timed passes: of one machine, and where it shows its energy
};

}  // namespace tacho
