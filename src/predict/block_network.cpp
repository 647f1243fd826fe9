#include "predict/block_network.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include "base/error.h"
#include "graph/shape_inference.h"
#include "graph/window.h"

namespace tacho {
namespace {

size_t index(ValueId id) { return static_cast<size_t>(id); }

Extents extents(const Point& point) { return {point.begin(), point.end()}; }

// A value of the tile's graph and which cells of the network's value it holds.
struct Held {
  ValueId id = -1;
  Box box;
};

class TileBuilder {
 public:
  TileBuilder(const Graph& network, const Stage& stage, const TileEdges& edges)
      : network_(network), stage_(stage), edges_(edges), held_(network.values.size()) {
    tile_.graph.name = network.name;
  }

  TileNetwork build(const Box& wanted) {
    define_inputs(wanted);
    for (size_t i = stage_.nodes.begin; i < stage_.nodes.end; ++i) {
      const Node& node = network_.nodes[i];
      held_[index(node.outputs[0])] = std::visit([&](const auto& op) { return add(op, node); }, node.op);
    }
    const Held& output = held_[index(stage_.nodes.output)];
    tile_.output = output.box;
    tile_.graph.outputs = {output.id};
    tile_.graph.backward_begin = tile_.graph.nodes.size();
    return std::move(tile_);
  }

 private:
  ValueId add_value(Value value) {
    tile_.graph.values.push_back(std::move(value));
    return static_cast<ValueId>(tile_.graph.values.size()) - 1;
  }

  ValueId add_input(Value value) {
    value.role = Role::input;
    tile_.graph.inputs.push_back(add_value(std::move(value)));
    return tile_.graph.inputs.back();
  }

  void define_inputs(const Box& wanted) {
    std::vector<RequiredValues> required;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const auto along = required_values(network_, stage_.nodes, static_cast<int>(axis),
                                         {wanted.begin[axis], wanted.end[axis] - 1}, edges_.padded[axis]);
      if (!along)
        throw UserError("{} cannot be run in blocks: a layer of it looks at the whole image", network_.name);
      required.push_back(*along);
    }
    for (const ValueId id : stage_.inputs) {
      Box box;
      for (size_t axis = 0; axis < kAxes; ++axis) {
        const Interval along = required[axis][index(id)].value();
        box.begin[axis] = along.first;
        box.end[axis] = along.last + 1;
      }
      Value value = network_.value(id);
      const Point size = box.size();
      std::copy(size.begin(), size.end(), value.shape.begin() + 2);
      tile_.inputs.push_back(box);
      held_[index(id)] = {add_input(std::move(value)), box};
    }
  }

  // The inputs of a node: what the tile holds, and weights under their own names.
  std::vector<ValueId> with_weights(ValueId x, const Node& node) {
    std::vector<ValueId> ids = {x};
    for (size_t i = 1; i < node.inputs.size(); ++i) {
      Held& weight = held_[index(node.inputs[i])];
      if (weight.id < 0) weight.id = add_value(network_.value(node.inputs[i]));
      ids.push_back(weight.id);
    }
    return ids;
  }

  Held cropped(const Held& x, const Box& box, const Node& node) {
    if (x.box == box) return x;
    Extents begin;
    for (size_t axis = 0; axis < kAxes; ++axis) begin.push_back(box.begin[axis] - x.box.begin[axis]);
    return {
        append_node(tile_.graph, node.name + ".crop", Crop{std::move(begin), extents(box.size())}, {x.id}),
        box};
  }

  // The value as the padding of a window sees it.
  Held fenced(ValueId id, double outside, const Node& node) {
    const bool filled_with_zeros = id == network_.inputs[0] && outside == 0;
    const bool padded = std::ranges::all_of(edges_.padded, std::identity());
    if (!edges_.fenced || padded || filled_with_zeros) return held_[index(id)];
    Held& fenced = fenced_values_[{id, outside}];
    if (fenced.id >= 0) return fenced;
    const Held& x = held_[index(id)];
    const ValueId bounds =
        add_input({node.name + ".bounds", {2, int64_t{kAxes}}, DType::i64, Role::input, {}});
    tile_.fences.push_back({bounds, id, x.box.begin});
    fenced = {append_node(tile_.graph, node.name + ".fence", Fence{outside}, {x.id, bounds}), x.box};
    return fenced;
  }

  // The op on just the cells that whole windows fit into, without padding of its own.
  template<typename WindowOp>
  Held slide(WindowOp op, const std::array<Window, kAxes>& windows, const Held& x, const Node& node) {
    Box in, out;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      const Window& window = windows[axis];
      if (edges_.padded[axis]) {
        in.begin[axis] = x.box.begin[axis];
        in.end[axis] = x.box.end[axis];
        out.end[axis] = output_extent(x.box.size()[axis], window);
        continue;
      }
      const int64_t reach = window.dilation * (window.kernel - 1);
      out.begin[axis] = -floor_div(-(x.box.begin[axis] + window.padding), window.stride);
      out.end[axis] = floor_div(x.box.end[axis] - 1 + window.padding - reach, window.stride) + 1;
      in.begin[axis] = out.begin[axis] * window.stride - window.padding;
      in.end[axis] = (out.end[axis] - 1) * window.stride - window.padding + reach + 1;
      op.padding[axis] = 0;
    }
    const Held part = cropped(x, in, node);
    return {append_node(tile_.graph, node.name, std::move(op), with_weights(part.id, node)), out};
  }

  Held add(const Convolution& op, const Node& node) {
    std::array<Window, kAxes> windows;
    const Shape& weight = network_.shape(node.inputs[1]);
    for (size_t axis = 0; axis < kAxes; ++axis)
      windows[axis] = {weight[axis + 2], op.stride[axis], op.padding[axis], op.dilation[axis]};
    const bool looks_around =
        std::ranges::any_of(windows, [](const Window& window) { return window.kernel > 1; });
    const Held x = looks_around ? fenced(node.inputs[0], 0, node) : held_[index(node.inputs[0])];
    return slide(op, windows, x, node);
  }

  template<typename Pool>
  std::array<Window, kAxes> pool_windows(const Pool& op, const Node& node) const {
    if (op.ceil_mode) throw UserError("{} cannot be run in blocks: {} rounds up", network_.name, node.name);
    std::array<Window, kAxes> windows;
    for (size_t axis = 0; axis < kAxes; ++axis)
      windows[axis] = {op.kernel[axis], op.stride[axis], op.padding[axis]};
    return windows;
  }

  Held add(const MaxPool& op, const Node& node) {
    constexpr double kNeverWins = std::numeric_limits<float>::lowest();
    return slide(op, pool_windows(op, node), fenced(node.inputs[0], kNeverWins, node), node);
  }

  Held add(const AveragePool& op, const Node& node) {
    if (edges_.fenced && !op.count_padding)
      throw UserError("{} cannot be run in blocks with its own padding: {} does not count it", network_.name,
                      node.name);
    return slide(op, pool_windows(op, node), fenced(node.inputs[0], 0, node), node);
  }

  Held add(const Upsample& op, const Node& node) {
    const Held& x = held_[index(node.inputs[0])];
    Box box;
    for (size_t axis = 0; axis < kAxes; ++axis) {
      box.begin[axis] = x.box.begin[axis] * op.scale[axis];
      box.end[axis] = x.box.end[axis] * op.scale[axis];
    }
    return {append_node(tile_.graph, node.name, op, {x.id}), box};
  }

  // Of several values of one resolution: what all of them hold.
  Held join(const Op& op, const Node& node) {
    Box box = held_[index(node.inputs[0])].box;
    for (const ValueId id : node.inputs) box = intersection(box, held_[index(id)].box);
    std::vector<ValueId> parts;
    for (const ValueId id : node.inputs) parts.push_back(cropped(held_[index(id)], box, node).id);
    return {append_node(tile_.graph, node.name, op, std::move(parts)), box};
  }
  Held add(const Concat& op, const Node& node) { return join(op, node); }
  Held add(const Add& op, const Node& node) { return join(op, node); }

  template<typename Elementwise>
  Held add(const Elementwise& op, const Node& node) {
    const Held x = held_[index(node.inputs[0])];
    return {append_node(tile_.graph, node.name, op, with_weights(x.id, node)), x.box};
  }

  const Graph& network_;
  const Stage& stage_;
  TileEdges edges_;
  TileNetwork tile_;
  std::vector<Held> held_;  // by the network's values
  std::map<std::pair<ValueId, double>, Held> fenced_values_;
};

}  // namespace

TileNetwork tile_network(const Graph& network, const Stage& stage, const Box& wanted,
                         const TileEdges& edges) {
  return TileBuilder(network, stage, edges).build(wanted);
}

}  // namespace tacho
