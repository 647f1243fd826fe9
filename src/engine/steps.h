#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/split.h"

namespace tacho {

// What a plan computes in one go: a node of the graph, perhaps with its neighbours fused in.
struct LayerInfo {
  std::string name, op;
  bool backward = false;
  int64_t flop = 0;  // by the definition, whatever the kernel really does
};

// One call of a kernel.
struct StepInfo {
  size_t layer = 0;
  std::string kernel;
  int64_t bytes = 0;    // read and written at least; scratch memory does not count
  SplitFor split = {};  // how threads share it; empty for a kernel of a library, which does not say
};

// The calls of a pass in order, forward before backward.
struct StepList {
  std::vector<LayerInfo> layers;
  std::vector<StepInfo> steps;
};

struct StepTime {
  double begin_ms = 0, end_ms = 0;
};

}  // namespace tacho
