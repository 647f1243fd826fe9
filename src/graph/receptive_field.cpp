#include "graph/receptive_field.h"

#include <algorithm>

#include "graph/window.h"

namespace tacho {
namespace {

Interval through_window(Interval out, const Window& window) {
  return {out.first * window.stride - window.padding,
          out.last * window.stride - window.padding + window.dilation * (window.kernel - 1)};
}

// The input positions of a node that its output positions depend on; nothing where that is all of them.
std::optional<Interval> through_node(const Graph& graph, const Node& node, size_t axis, Interval out) {
  return std::visit(
      Overloaded{
          [&](const Convolution& op) -> std::optional<Interval> {
            const int64_t kernel = graph.shape(node.inputs[1])[axis + 2];
            return through_window(out, {kernel, op.stride[axis], op.padding[axis], op.dilation[axis]});
          },
          [&](const MaxPool& op) -> std::optional<Interval> {
            return through_window(out, {op.kernel[axis], op.stride[axis], op.padding[axis]});
          },
          [&](const AveragePool& op) -> std::optional<Interval> {
            return through_window(out, {op.kernel[axis], op.stride[axis], op.padding[axis]});
          },
          [&](const Upsample& op) -> std::optional<Interval> {
            return Interval{floor_div(out.first, op.scale[axis]), floor_div(out.last, op.scale[axis])};
          },
          [&](const Crop& op) -> std::optional<Interval> {
            return Interval{out.first + op.begin[axis], out.last + op.begin[axis]};
          },
          [](const GlobalAveragePool&) -> std::optional<Interval> { return {}; },
          [](const AdaptiveAveragePool&) -> std::optional<Interval> { return {}; },
          [](const Linear&) -> std::optional<Interval> { return {}; },
          [](const Flatten&) -> std::optional<Interval> { return {}; },
          [&](const auto&) -> std::optional<Interval> { return out; },
      },
      node.op);
}

// Upper bound of the period with which the dependence pattern repeats along an axis: the product of all
// strides.
int64_t stride_product(const Graph& graph, size_t axis) {
  int64_t product = 1;
  for (const Node& node : graph.nodes) {
    std::visit(Overloaded{[&](const Convolution& op) { product *= op.stride[axis]; },
                          [&](const MaxPool& op) { product *= op.stride[axis]; },
                          [&](const AveragePool& op) { product *= op.stride[axis]; }, [](const auto&) {}},
               node.op);
  }
  return product;
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

std::optional<RequiredValues> required_values(const Graph& graph, const NodeRange& range, int axis,
                                              Interval output, bool bounded) {
  RequiredValues required(graph.values.size());
  required[static_cast<size_t>(range.output)] = output;
  for (size_t i = range.end; i-- > range.begin;) {
    const Node& node = graph.nodes[i];
    const std::optional<Interval> out = required[static_cast<size_t>(node.outputs[0])];
    if (!out) continue;
    const std::optional<Interval> in = through_node(graph, node, static_cast<size_t>(axis), *out);
    if (!in) return {};
    for (ValueId id : node.inputs) {
      const Role role = graph.value(id).role;
      if (role != Role::input && role != Role::activation) continue;
      Interval wanted = *in;
      if (bounded) {
        const int64_t last = graph.shape(id)[static_cast<size_t>(axis) + 2] - 1;
        wanted = {std::clamp<int64_t>(in->first, 0, last), std::clamp<int64_t>(in->last, 0, last)};
      }
      std::optional<Interval>& known = required[static_cast<size_t>(id)];
      known =
          known ? Interval{std::min(known->first, wanted.first), std::max(known->last, wanted.last)} : wanted;
    }
  }
  return required;
}

std::optional<Interval> required_input(const Graph& graph, int axis, Interval output) {
  const auto required =
      required_values(graph, {0, graph.nodes.size(), graph.outputs[0]}, axis, output, false);
  if (!required) return {};
  return (*required)[static_cast<size_t>(graph.inputs[0])];
}

Extents total_strides(const Graph& graph) {
  Extents strides;
  const size_t axes = graph.shape(graph.inputs[0]).size() - 2;
  for (size_t axis = 0; axis < axes; ++axis) strides.push_back(stride_product(graph, axis));
  return strides;
}

std::optional<std::vector<ReceptiveField>> receptive_field(const Graph& graph) {
  std::vector<ReceptiveField> fields;
  const size_t axes = graph.shape(graph.inputs[0]).size() - 2;
  for (size_t axis = 0; axis < axes; ++axis) {
    const int64_t period = stride_product(graph, axis);
    ReceptiveField field;
    for (int64_t position = 0; position < period; ++position) {
      const auto input = required_input(graph, static_cast<int>(axis), {position, position});
      if (!input) return {};
      field.before = std::max(field.before, position - input->first);
      field.after = std::max(field.after, input->last - position);
    }
    fields.push_back(field);
  }
  return fields;
}

}  // namespace tacho
