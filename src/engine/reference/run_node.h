#pragma once

#include <vector>

#include "engine/reference/normalization.h"
#include "graph/graph.h"

namespace tacho::reference {

// What the dropout masks of one pass depend on.
struct DropoutPass {
  uint64_t seed = 0, pass = 0;
};

// Computes a node's outputs; `values` holds a tensor for every value of the graph.
void run_node(const Node& node, std::vector<Tensor>& values, const DropoutPass& dropout,
              const Devices& devices);

}  // namespace tacho::reference
