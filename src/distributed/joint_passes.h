#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distributed/pass.h"

namespace tacho {

// Where the time of a pass went on one device. All but `allreduce_ms` add up to the pass of all devices.
struct PassParts {
  double scatter_ms = 0, forward_ms = 0, backward_ms = 0;
  double exposed_allreduce_ms = 0;  // after the slowest device's backward pass
  double wait_ms = 0;               // for slower devices
  double update_ms = 0, gather_ms = 0;
  double allreduce_ms = 0;  // whatever ran meanwhile

  double total_ms() const {
    return scatter_ms + forward_ms + backward_ms + exposed_allreduce_ms + wait_ms + update_ms + gather_ms;
  }
};

// Passes that devices ran together.
struct JointPasses {
  std::vector<double> samples_ms = {};             // from the first device's begin to the last one's end
  std::vector<std::vector<PassParts>> parts = {};  // by rank, by pass
  int64_t bytes_moved = 0;                         // in one pass, by all devices
};

// Of each rank the same number of passes, all on one clock.
JointPasses join_passes(std::span<const std::vector<PassTimes>> by_rank);

// All ranks at once: their passes, this rank's being `own`. `clock_offset_ms` leads from its clock to rank
// 0's.
JointPasses gather_passes(Communicator& ranks, std::span<const PassTimes> own, double clock_offset_ms);

}  // namespace tacho
