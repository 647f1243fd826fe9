#include "graph/gradient.h"

#include <algorithm>
#include <cassert>
#include <type_traits>

#include "base/error.h"
#include "graph/shape_inference.h"

namespace tacho {
namespace {

// The op as it runs in a training pass: with batch statistics, masks and positions as further outputs.
Op training_mode(Op op) {
  std::visit(Overloaded{[](BatchNorm& o) { o.training = true; }, [](MaxPool& o) { o.training = true; },
                        [](Dropout& o) { o.training = true; }, [](auto&) {}},
             op);
  return op;
}

// The forward graph with every node in training mode; value ids of the forward graph stay valid.
Graph forward_in_training_mode(const Graph& forward) {
  Graph graph = forward;
  for (Node& node : graph.nodes) {
    node.op = training_mode(node.op);
    std::vector<TensorType> inputs;
    for (ValueId id : node.inputs) inputs.push_back({graph.shape(id), graph.value(id).dtype});
    const std::vector<TensorType> types = infer_types(node.op, node.name, inputs);
    for (size_t i = node.outputs.size(); i < types.size(); ++i) {
      node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
      graph.values.push_back({node.name, types[i].shape, types[i].dtype, Role::activation, {}});
    }
  }
  return graph;
}

ValueId append_input(Graph& graph, std::string name, Shape shape, DType dtype) {
  const auto id = static_cast<ValueId>(graph.values.size());
  graph.values.push_back({std::move(name), std::move(shape), dtype, Role::input, {}});
  graph.inputs.push_back(id);
  return id;
}

void append_loss(Graph& graph, Loss loss, double label_smoothing) {
  const ValueId prediction = graph.outputs[0];
  const Shape& shape = graph.shape(prediction);
  ValueId value = 0;
  if (loss == Loss::softmax_cross_entropy) {
    const ValueId labels = append_input(graph, "labels", {shape[0]}, DType::i64);
    value = append_node(graph, "loss", SoftmaxCrossEntropy{label_smoothing}, {prediction, labels});
  } else {
    const ValueId target = append_input(graph, "target", shape, DType::f32);
    value = append_node(graph, "loss", DiceLoss{}, {prediction, target});
  }
  graph.outputs.push_back(value);
}

template<typename T, typename... Candidates>
constexpr bool kIsOneOf = (std::is_same_v<T, Candidates> || ...);

template<typename T>
constexpr bool kIsBackward =
    kIsOneOf<T, ConvolutionBackwardData, ConvolutionBackwardWeights, BatchNormBackward, ReluBackward,
             EluBackward, SigmoidBackward, MaxPoolBackward, AveragePoolBackward, GlobalAveragePoolBackward,
             AdaptiveAveragePoolBackward, Slice, LinearBackwardData, LinearBackwardWeights, Reshape,
             DropoutBackward, UpsampleBackward, SoftmaxCrossEntropyBackward, DiceLossBackward>;

// Walks the forward nodes backwards and appends the op that yields each gradient somebody needs.
class Differentiator {
 public:
  Differentiator(Graph& graph, bool of_input) : graph_(graph), gradients_(graph.values.size()) {
    for (const Value& value : graph.values) {
      needed_.push_back(value.role == Role::parameter ||
                        (of_input && value.name == graph.value(graph.inputs[0]).name));
    }
    for (const Node& node : graph.nodes) {
      const bool any = std::ranges::any_of(node.inputs, [&](ValueId id) { return needs(id); });
      for (ValueId id : node.outputs) needed_[static_cast<size_t>(id)] = any;
    }
  }

  void run(size_t forward_nodes) {
    for (size_t i = forward_nodes; i-- > 0;) {
      const Node node = graph_.nodes[i];  // a copy: appending nodes moves the originals
      std::visit([&](const auto& op) { differentiate(op, node); }, node.op);
    }
  }

  std::optional<ValueId> of(ValueId id) const { return gradients_[static_cast<size_t>(id)]; }

 private:
  bool needs(ValueId id) const { return needed_[static_cast<size_t>(id)]; }

  // Adds a contribution to the gradient of `id`.
  void contribute(ValueId id, ValueId gradient) {
    std::optional<ValueId>& sum = gradients_[static_cast<size_t>(id)];
    sum = sum ? append_node(graph_, graph_.value(id).name, Add{}, {*sum, gradient}) : gradient;
  }

  // Appends `op` as the gradient of the node's input `i`, where that is needed.
  void contribute(const Node& node, size_t i, Op op, std::vector<ValueId> inputs) {
    if (needs(node.inputs[i]))
      contribute(node.inputs[i], append_node(graph_, node.name, std::move(op), std::move(inputs)));
  }

  // An op whose outputs are the gradients of a weight and, if there is one, of a bias.
  void contribute_weights(const Node& node, Op op, ValueId dy) {
    append_node(graph_, node.name, std::move(op), {node.inputs[0], dy});
    const std::vector<ValueId> outputs = graph_.nodes.back().outputs;
    for (size_t i = 0; i < outputs.size(); ++i) contribute(node.inputs[i + 1], outputs[i]);
  }

  std::optional<ValueId> dy(const Node& node) const { return of(node.outputs[0]); }
  const Shape& input_shape(const Node& node) const { return graph_.shape(node.inputs[0]); }

  // The gradient of the weights comes first: an input that only it reads dies before the input's own gradient
  // needs room.
  void differentiate(const Convolution& op, const Node& node) {
    if (!dy(node)) return;
    const ValueId gradient = *dy(node);
    const bool bias = node.inputs.size() > 2;
    contribute_weights(node, ConvolutionBackwardWeights{op, graph_.shape(node.inputs[1]), bias}, gradient);
    contribute(node, 0, ConvolutionBackwardData{op, input_shape(node)}, {gradient, node.inputs[1]});
  }

  void differentiate(const BatchNorm& op, const Node& node) {
    if (!dy(node)) return;
    append_node(graph_, node.name, BatchNormBackward{op.epsilon},
                {node.inputs[0], node.inputs[1], node.outputs[1], node.outputs[2], *dy(node)});
    const std::vector<ValueId> outputs = graph_.nodes.back().outputs;
    for (size_t i = 0; i < 3; ++i) {
      if (needs(node.inputs[i])) contribute(node.inputs[i], outputs[i]);
    }
  }

  void differentiate(const Relu&, const Node& node) {
    if (dy(node)) contribute(node, 0, ReluBackward{}, {node.outputs[0], *dy(node)});
  }
  void differentiate(const Elu& op, const Node& node) {
    if (dy(node)) contribute(node, 0, EluBackward{op.alpha}, {node.outputs[0], *dy(node)});
  }
  void differentiate(const Sigmoid&, const Node& node) {
    if (dy(node)) contribute(node, 0, SigmoidBackward{}, {node.outputs[0], *dy(node)});
  }
  void differentiate(const MaxPool& op, const Node& node) {
    if (dy(node)) contribute(node, 0, MaxPoolBackward{op, input_shape(node)}, {node.outputs[1], *dy(node)});
  }
  void differentiate(const AveragePool& op, const Node& node) {
    if (dy(node)) contribute(node, 0, AveragePoolBackward{op, input_shape(node)}, {*dy(node)});
  }
  void differentiate(const GlobalAveragePool&, const Node& node) {
    if (dy(node)) contribute(node, 0, GlobalAveragePoolBackward{input_shape(node)}, {*dy(node)});
  }
  void differentiate(const AdaptiveAveragePool&, const Node& node) {
    if (dy(node)) contribute(node, 0, AdaptiveAveragePoolBackward{input_shape(node)}, {*dy(node)});
  }

  void differentiate(const Add&, const Node& node) {
    if (!dy(node)) return;
    for (ValueId input : node.inputs) {
      if (needs(input)) contribute(input, *dy(node));
    }
  }

  void differentiate(const Concat&, const Node& node) {
    if (!dy(node)) return;
    int64_t begin = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const int64_t channels = graph_.shape(node.inputs[i])[1];
      contribute(node, i, Slice{begin, channels}, {*dy(node)});
      begin += channels;
    }
  }

  void differentiate(const Linear&, const Node& node) {
    if (!dy(node)) return;
    const ValueId gradient = *dy(node);
    contribute_weights(node, LinearBackwardWeights{node.inputs.size() > 2}, gradient);
    contribute(node, 0, LinearBackwardData{}, {gradient, node.inputs[1]});
  }

  void differentiate(const Flatten&, const Node& node) {
    if (dy(node)) contribute(node, 0, Reshape{input_shape(node)}, {*dy(node)});
  }
  void differentiate(const Dropout& op, const Node& node) {
    if (dy(node)) contribute(node, 0, DropoutBackward{op.probability}, {node.outputs[1], *dy(node)});
  }
  void differentiate(const Upsample& op, const Node& node) {
    if (dy(node)) contribute(node, 0, UpsampleBackward{op.scale}, {*dy(node)});
  }

  void differentiate(const Crop& op, const Node& node) {
    if (!dy(node)) return;
    Extents begin = op.begin;
    for (int64_t& position : begin) position = -position;
    contribute(node, 0, Crop{std::move(begin), spatial(input_shape(node))}, {*dy(node)});
  }
  void differentiate(const Fence&, const Node& node) {
    throw UserError("{}: a network with fences cannot be trained, only run", node.name);
  }

  // A loss starts the chain: its own gradient is 1.
  void differentiate(const SoftmaxCrossEntropy& op, const Node& node) {
    contribute(node, 0, SoftmaxCrossEntropyBackward{op.smoothing}, {node.outputs[1], node.inputs[1]});
  }
  void differentiate(const DiceLoss&, const Node& node) {
    contribute(node, 0, DiceLossBackward{}, {node.inputs[0], node.inputs[1], node.outputs[1]});
  }

  template<typename T>
  void differentiate(const T&, const Node&) {
    static_assert(kIsBackward<T>, "a forward op needs its gradient above");
    assert(!"a forward graph holds no backward ops");
  }

  Graph& graph_;
  std::vector<bool> needed_;
  std::vector<std::optional<ValueId>> gradients_;
};

}  // namespace

Graph gradient(const Graph& forward, Loss loss, const GradientOptions& options) {
  assert(!forward.training && forward.outputs.size() == 1);
  Graph graph = forward_in_training_mode(forward);
  append_loss(graph, loss, options.label_smoothing);
  graph.training = true;
  graph.backward_begin = graph.nodes.size();

  Differentiator differentiator(graph, options.of_input);
  differentiator.run(graph.backward_begin);
  for (ValueId id : graph.weights()) {
    if (const auto gradient_id = differentiator.of(id)) graph.gradients.push_back({id, *gradient_id});
  }
  if (options.of_input) {
    const auto image_gradient = differentiator.of(graph.inputs[0]);
    assert(image_gradient);
    graph.outputs.push_back(*image_gradient);
  }
  return graph;
}

}  // namespace tacho
