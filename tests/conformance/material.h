#pragma once

#include <vector>

#include "graph/graph.h"

namespace tacho::conformance {

// What a graph is run on: values for its inputs in their order, and its weights.
struct Material {
  std::vector<Tensor> inputs;
  Weights weights;
};

// Inputs spread evenly in a random order, so that no two are close (ties decide max pooling) and none is near
// zero (the kink of ReLU); random labels and targets; weights by their initializer, constants replaced by
// random values.
Material make_material(const Graph& graph, uint64_t seed);

// Makes each channel behind a batch norm surely open or shut at the ReLU that follows, for training. Where an
// input is near zero, rounding decides on which side it falls, and one such element changes every gradient
// behind it.
void settle_relus(const Graph& training_graph, Weights& weights, uint64_t seed);

}  // namespace tacho::conformance
