#pragma once

#include <cstdint>

#include "graph/graph.h"
#include "models/zoo.h"

namespace tacho {

// First values of every parameter and statistic by its own initializer.
Weights initialize(const Graph& graph, uint64_t seed);

// Lets every residual block start as its shortcut alone, so that deep networks learn from the first step: the
// scale of the batch norm that ends a branch, the first input of an Add, becomes 0.
void start_from_shortcuts(const Graph& graph, Weights& weights);

// Throws UserError that names what is missing, unknown or misshapen. Entries of the model's training head and
// "*.num_batches_tracked" are dropped from `weights`; returns how many of the head there were.
int check_weights(const Model& model, const Graph& graph, Weights& weights, std::string_view source);

}  // namespace tacho
