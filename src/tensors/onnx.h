#pragma once

#include <filesystem>
#include <string>

#include "base/tensor.h"
#include "graph/graph.h"

namespace tacho {

// An inference graph with its weights as an ONNX model, opset 13: one node per op, parameters under their own
// names, the graph's one output as "output". `weights` must fit the graph. Throws UserError with the layer
// for what an inference graph cannot hold or ONNX cannot say.
std::string to_onnx(const Graph& graph, const Weights& weights);

// Replaces the file as a whole or not at all.
void write_onnx(const std::filesystem::path& path, const Graph& graph, const Weights& weights);

}  // namespace tacho
