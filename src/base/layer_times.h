#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

// What one layer of a plan did in every pass that was recorded.
struct LayerTimes {
  std::string name = {}, op = {};
  std::string phase = {};       // "forward", "backward" or "update"
  std::string kernel = {};      // those it called, in order, joined with " + "
  int64_t flop = 0, bytes = 0;  // of one pass; FLOP by the direct algorithm, whatever the kernel does
  std::vector<double> samples_ms = {};
  double begin_ms = 0, end_ms = 0;  // in the last of the passes, from where that began
};

}  // namespace tacho
