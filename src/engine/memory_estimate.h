#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

// What a compiled plan of this graph will hold, before anything is allocated: weights, in training gradients
// and optimizer state, inputs, and one arena of activations. Saturates at the largest integer for absurd
// batches.
int64_t estimate_memory_bytes(const Graph& graph, const UpdateRule& rule);

}  // namespace tacho
