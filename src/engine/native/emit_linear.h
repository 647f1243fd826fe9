#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tacho::native {

// What of a linear layer's weight gradient, which `node` computes, exists at once where gradients are not
// kept.
int64_t linear_gradient_bytes(const Graph& graph, const Node& node);

}  // namespace tacho::native
