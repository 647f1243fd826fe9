#pragma once

#include <filesystem>
#include <string>

#include "graph/graph.h"
#include "models/zoo.h"

namespace tacho {

struct ModelWeights {
  Weights weights;
  std::string note = {};  // what of the file is ignored, in one line; empty: nothing
};

// The weights of a safetensors file for the model's graph. Throws UserError where they do not fit, with the
// number of classes that would.
ModelWeights read_model_weights(const std::filesystem::path& path, const Model& model, const Graph& graph);

}  // namespace tacho
