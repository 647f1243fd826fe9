#pragma once

#include <string>

#include "graph/graph.h"

namespace tacho {

// "convolution 64 7x7 stride 2 padding 3": the op with the attributes that differ from their defaults.
std::string describe(const Graph& graph, const Node& node);

// One line a node: layer, op, output shape, parameters.
std::string to_string(const Graph& graph);

}  // namespace tacho
