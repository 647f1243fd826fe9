#include "graph/cost.h"

namespace tacho {
namespace {

// Multiply-adds of a convolution: every output element reduces over Cin/groups times the kernel.
int64_t convolution_macs(const Shape& output, const Shape& weight) {
  return elements(output) * (elements(weight) / weight[0]);
}

int64_t multiply_adds(const Graph& graph, const Node& node) {
  const auto shape = [&](const std::vector<ValueId>& ids, size_t i) -> const Shape& {
    return graph.shape(ids[i]);
  };
  if (std::holds_alternative<Convolution>(node.op)) {
    return convolution_macs(shape(node.outputs, 0), shape(node.inputs, 1));
  }
  if (std::holds_alternative<ConvolutionBackwardData>(node.op)) {
    return convolution_macs(shape(node.inputs, 0), shape(node.inputs, 1));
  }
  if (std::holds_alternative<ConvolutionBackwardWeights>(node.op)) {
    return convolution_macs(shape(node.inputs, 1), shape(node.outputs, 0));
  }
  if (std::holds_alternative<Linear>(node.op) || std::holds_alternative<LinearBackwardData>(node.op)) {
    return shape(node.inputs, 0)[0] * elements(shape(node.inputs, 1));
  }
  if (std::holds_alternative<LinearBackwardWeights>(node.op)) {
    return shape(node.inputs, 0)[0] * elements(shape(node.outputs, 0));
  }
  return 0;
}

int64_t bytes_of(const Graph& graph, const std::vector<ValueId>& ids) {
  int64_t bytes = 0;
  for (ValueId id : ids) {
    bytes += elements(graph.shape(id)) * static_cast<int64_t>(size_of(graph.value(id).dtype));
  }
  return bytes;
}

}  // namespace

Cost cost_of(const Graph& graph, const Node& node) {
  return {2 * multiply_adds(graph, node), bytes_of(graph, node.inputs) + bytes_of(graph, node.outputs)};
}

Cost cost_of(const Graph& graph, size_t begin, size_t end) {
  Cost sum;
  for (size_t i = begin; i < end; ++i) {
    const Cost cost = cost_of(graph, graph.nodes[i]);
    sum.flop += cost.flop;
    sum.bytes += cost.bytes;
  }
  return sum;
}

Cost cost_of(const Graph& graph) { return cost_of(graph, 0, graph.nodes.size()); }

int64_t parameter_count(const Graph& graph) {
  int64_t count = 0;
  for (const Value& value : graph.values) {
    if (value.role == Role::parameter) count += elements(value.shape);
  }
  return count;
}

}  // namespace tacho
