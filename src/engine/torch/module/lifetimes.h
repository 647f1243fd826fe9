#pragma once

#include <vector>

#include "graph/graph.h"

namespace tacho::torch_engine {

// What a node of a forward pass may do with the memory of values.
struct NodeLifetimes {
  bool may_overwrite = false;           // its first input: nobody needs it any more, autograd included
  std::vector<ValueId> last_used = {};  // here
};

// By node of the forward pass.
std::vector<NodeLifetimes> find_lifetimes(const Graph& graph);

}  // namespace tacho::torch_engine
