#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "graph/graph.h"
#include "kernels/optimizer/optimizer.h"

namespace tacho {

// How an engine lays its arena out.
struct ArenaLayout {
  int64_t channel_block = 8;  // channels that are kept side by side: the last ones are padded to so many
  std::function<int64_t(const Node&)> scratch_bytes = {};  // that a node takes while it runs
  std::map<ValueId, ValueId> wholes = {};                  // in whose memory a value is made
  bool keep_gradients = true;                              // see CompileOptions
  // Where gradients are not kept, what of the one that a LinearBackwardWeights computes exists at once.
  std::function<int64_t(const Node&)> linear_gradient_bytes = {};
};

// What a plan with one arena of activations will hold: that arena, inputs, weights, in training gradients and
// optimizer state. These saturate at the largest integer for absurd batches.
int64_t estimate_arena_plan_bytes(const Graph& graph, const UpdateRule& rule, const ArenaLayout& layout = {});

// What a plan with a tensor for every value will hold.
int64_t estimate_separate_plan_bytes(const Graph& graph, const UpdateRule& rule);

// Of one dense value.
int64_t saturating_bytes(const Shape& shape, DType dtype);

}  // namespace tacho
