#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tacho {

// First values of every parameter and statistic by its own initializer.
Weights initialize(const Graph& graph, uint64_t seed);

// Lets every residual block start as its shortcut alone, so that deep networks learn from the first step: the
// scale of the batch norm that ends a branch, the first input of an Add, becomes 0.
void start_from_shortcuts(const Graph& graph, Weights& weights);

// Throws UserError that names what is missing, unknown or misshapen. Entries that begin with "AuxLogits." (of
// inception_v3) and "*.num_batches_tracked" are dropped from `weights`; returns how many AuxLogits entries
// there were.
int check_weights(const Graph& graph, Weights& weights, std::string_view source);

}  // namespace tacho
