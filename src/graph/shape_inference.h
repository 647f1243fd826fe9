#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tacho {

struct TensorType {
  Shape shape;
  DType dtype = DType::f32;
};

// Types of the outputs of `op`. A misfit throws UserError that begins with the layer's name.
std::vector<TensorType> infer_types(const Op& op, std::string_view layer,
                                    const std::vector<TensorType>& inputs);

// Appends a node and the values it yields, their types inferred; returns the node's first output.
ValueId append_node(Graph& graph, std::string name, Op op, std::vector<ValueId> inputs);

}  // namespace tacho
