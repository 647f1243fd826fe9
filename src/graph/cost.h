#pragma once

#include "graph/graph.h"

namespace tacho {

struct Cost {
  int64_t flop =
      0;  // multiply-adds of convolutions and linear layers, two each: the convention of published tables
  int64_t bytes = 0;  // inputs read once plus outputs written once
};

Cost cost_of(const Graph& graph, const Node& node);
// Sum over the nodes [begin, end).
Cost cost_of(const Graph& graph, size_t begin, size_t end);
Cost cost_of(const Graph& graph);

// Trained elements; running statistics do not count.
int64_t parameter_count(const Graph& graph);

}  // namespace tacho
