#pragma once

#include <cstdint>
#include <functional>

#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

// What a plan with one arena of activations will hold: that arena, inputs, weights, in training gradients and
// optimizer state. `scratch_bytes`, where there is one, says what a node takes of the arena while it runs.
// These saturate at the largest integer for absurd batches.
using ScratchBytes = std::function<int64_t(const Node&)>;
int64_t estimate_arena_plan_bytes(const Graph& graph, const UpdateRule& rule,
                                  const ScratchBytes& scratch_bytes = {});

// What a plan with a tensor for every value will hold.
int64_t estimate_separate_plan_bytes(const Graph& graph, const UpdateRule& rule);

// Of one dense value.
int64_t saturating_bytes(const Shape& shape, DType dtype);

}  // namespace tacho
