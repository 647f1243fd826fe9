#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace tacho {

// Fills every input of the graph with random data: images normal, labels uniform over the classes, targets 0
// or 1.
void write_random_inputs(Plan& plan, const Graph& graph, uint64_t seed);

// The same for the graph's images alone, as many as are asked for.
Tensor random_images(const Graph& graph, int64_t images, uint64_t seed);

}  // namespace tacho
