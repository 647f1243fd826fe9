#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

// What a plan with one arena of activations will hold: that arena, inputs, weights, in training gradients and
// optimizer state. These saturate at the largest integer for absurd batches.
int64_t estimate_arena_plan_bytes(const Graph& graph, const UpdateRule& rule);

// What a plan with a tensor for every value will hold.
int64_t estimate_separate_plan_bytes(const Graph& graph, const UpdateRule& rule);

// Of one dense value.
int64_t saturating_bytes(const Shape& shape, DType dtype);

}  // namespace tacho
