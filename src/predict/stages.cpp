#include "predict/stages.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "graph/shape_inference.h"

namespace tacho {
namespace {

bool is_activation(const Graph& graph, ValueId id) {
  const Role role = graph.value(id).role;
  return role == Role::input || role == Role::activation;
}

int64_t stride_of(const Op& op, size_t axis) {
  return std::visit(Overloaded{[&](const Convolution& o) { return o.stride[axis]; },
                               [&](const MaxPool& o) { return o.stride[axis]; },
                               [&](const AveragePool& o) { return o.stride[axis]; },
                               [](const auto&) { return int64_t{1}; }},
                    op);
}

int64_t scale_of(const Op& op, size_t axis) {
  const auto* upsample = std::get_if<Upsample>(&op);
  return upsample != nullptr ? upsample->scale[axis] : 1;
}

bool coarsens(const Node& node) {
  return stride_of(node.op, 0) * stride_of(node.op, 1) * stride_of(node.op, 2) > 1;
}

// Activations that nodes before `end` give and others, or the caller, still read.
std::vector<ValueId> results(const Graph& graph, size_t begin, size_t end) {
  std::vector<ValueId> used = graph.outputs;
  for (size_t i = end; i < graph.nodes.size(); ++i)
    used.insert(used.end(), graph.nodes[i].inputs.begin(), graph.nodes[i].inputs.end());
  std::vector<ValueId> given;
  for (size_t i = begin; i < end; ++i) {
    for (const ValueId id : graph.nodes[i].outputs)
      if (std::ranges::count(used, id) > 0) given.push_back(id);
  }
  return given;
}

std::vector<ValueId> read_from_outside(const Graph& graph, size_t begin, size_t end) {
  std::vector<ValueId> read, made;
  for (size_t i = begin; i < end; ++i) {
    for (const ValueId id : graph.nodes[i].inputs) {
      const bool known = std::ranges::count(made, id) + std::ranges::count(read, id) > 0;
      if (is_activation(graph, id) && !known) read.push_back(id);
    }
    made.insert(made.end(), graph.nodes[i].outputs.begin(), graph.nodes[i].outputs.end());
  }
  return read;
}

}  // namespace

Graph resized(const Graph& network, const Point& image) {
  Graph graph = network;
  graph.values[static_cast<size_t>(graph.inputs[0])].shape = {1, network.shape(network.inputs[0])[1],
                                                              image[0], image[1], image[2]};
  for (const Node& node : graph.nodes) {
    std::vector<TensorType> inputs;
    for (const ValueId id : node.inputs) inputs.push_back({graph.shape(id), graph.value(id).dtype});
    const std::vector<TensorType> types = infer_types(node.op, node.name, inputs);
    for (size_t i = 0; i < types.size(); ++i)
      graph.values[static_cast<size_t>(node.outputs[i])].shape = types[i].shape;
  }
  return graph;
}

std::vector<Point> cell_sizes(const Graph& network) {
  Point finest = {1, 1, 1};
  for (const Node& node : network.nodes)
    for (size_t axis = 0; axis < finest.size(); ++axis) finest[axis] *= scale_of(node.op, axis);
  std::vector<Point> cells(network.values.size(), Point{1, 1, 1});
  cells[static_cast<size_t>(network.inputs[0])] = finest;
  for (const Node& node : network.nodes) {
    Point cell = cells[static_cast<size_t>(node.inputs[0])];
    for (size_t axis = 0; axis < cell.size(); ++axis)
      cell[axis] = cell[axis] * stride_of(node.op, axis) / scale_of(node.op, axis);
    for (const ValueId id : node.outputs) cells[static_cast<size_t>(id)] = cell;
  }
  return cells;
}

Point period_of(const Graph& network, const NodeRange& range, const std::vector<Point>& cells) {
  Point period = {1, 1, 1};
  const auto include = [&](ValueId id) {
    for (size_t axis = 0; axis < period.size(); ++axis)
      period[axis] = std::lcm(period[axis], cells[static_cast<size_t>(id)][axis]);
  };
  for (size_t i = range.begin; i < range.end; ++i) {
    for (const ValueId id : network.nodes[i].inputs)
      if (is_activation(network, id)) include(id);
    for (const ValueId id : network.nodes[i].outputs) include(id);
  }
  return period;
}

std::vector<Stage> split_into_stages(const Graph& network) {
  std::vector<Stage> stages;
  size_t begin = 0;
  for (size_t end = 1; end <= network.nodes.size(); ++end) {
    const bool last = end == network.nodes.size();
    const bool cut =
        last || coarsens(network.nodes[end - 1]) || std::holds_alternative<Upsample>(network.nodes[end].op);
    if (!cut) continue;
    const std::vector<ValueId> given = results(network, begin, end);
    if (given.size() != 1) continue;
    stages.push_back({{begin, end, given[0]}, read_from_outside(network, begin, end)});
    begin = end;
  }
  return stages;
}

}  // namespace tacho
