#pragma once

#include <filesystem>

#include "graph/graph.h"
#include "models/zoo.h"

namespace tacho {

// The weights of a safetensors file for the model's graph; notes on stderr what of it is ignored. Throws
// UserError where they do not fit, with the number of classes that would.
Weights read_model_weights(const std::filesystem::path& path, const Model& model, const Graph& graph);

}  // namespace tacho
