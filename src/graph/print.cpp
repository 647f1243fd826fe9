#include "graph/print.h"

#include <fmt/format.h>

#include <algorithm>

namespace tacho {
namespace {

bool all(const Extents& extents, int64_t value) {
  return std::ranges::all_of(extents, [=](int64_t extent) { return extent == value; });
}

// " stride 2" where every axis is the same, " stride 1x2" otherwise, nothing at the default.
std::string attribute(std::string_view name, const Extents& extents, int64_t fallback) {
  if (all(extents, fallback)) return "";
  if (all(extents, extents[0])) return fmt::format(" {} {}", name, extents[0]);
  return fmt::format(" {} {}", name, to_string(extents));
}

template<typename Pool>
std::string describe_pool(const Pool& op) {
  return fmt::format(" {}{}{}{}", to_string(op.kernel), attribute("stride", op.stride, 1),
                     attribute("padding", op.padding, 0), op.ceil_mode ? " ceil" : "");
}

std::string describe_convolution(const Convolution& op, const Shape& weight) {
  return fmt::format(" {} {}{}{}{}{}", weight[0], to_string(spatial(weight)),
                     attribute("stride", op.stride, 1), attribute("padding", op.padding, 0),
                     attribute("dilation", op.dilation, 1),
                     op.groups > 1 ? fmt::format(" groups {}", op.groups) : "");
}

int64_t parameters_of(const Graph& graph, const Node& node) {
  int64_t count = 0;
  for (ValueId id : node.inputs) {
    if (graph.value(id).role == Role::parameter) count += elements(graph.shape(id));
  }
  return count;
}

}  // namespace

std::string_view name_of(const Op& op) {
  return std::visit(Overloaded{
                        [](const Convolution&) { return "convolution"; },
                        [](const BatchNorm&) { return "batch_norm"; },
                        [](const Relu&) { return "relu"; },
                        [](const Elu&) { return "elu"; },
                        [](const Sigmoid&) { return "sigmoid"; },
                        [](const MaxPool&) { return "max_pool"; },
                        [](const AveragePool&) { return "average_pool"; },
                        [](const GlobalAveragePool&) { return "global_average_pool"; },
                        [](const AdaptiveAveragePool&) { return "adaptive_average_pool"; },
                        [](const Add&) { return "add"; },
                        [](const Concat&) { return "concat"; },
                        [](const Linear&) { return "linear"; },
                        [](const Flatten&) { return "flatten"; },
                        [](const Dropout&) { return "dropout"; },
                        [](const Upsample&) { return "upsample"; },
                        [](const Crop&) { return "crop"; },
                        [](const Fence&) { return "fence"; },
                        [](const SoftmaxCrossEntropy&) { return "softmax_cross_entropy"; },
                        [](const DiceLoss&) { return "dice_loss"; },
                        [](const ConvolutionBackwardData&) { return "convolution_backward_data"; },
                        [](const ConvolutionBackwardWeights&) { return "convolution_backward_weights"; },
                        [](const BatchNormBackward&) { return "batch_norm_backward"; },
                        [](const ReluBackward&) { return "relu_backward"; },
                        [](const EluBackward&) { return "elu_backward"; },
                        [](const SigmoidBackward&) { return "sigmoid_backward"; },
                        [](const MaxPoolBackward&) { return "max_pool_backward"; },
                        [](const AveragePoolBackward&) { return "average_pool_backward"; },
                        [](const GlobalAveragePoolBackward&) { return "global_average_pool_backward"; },
                        [](const AdaptiveAveragePoolBackward&) { return "adaptive_average_pool_backward"; },
                        [](const Slice&) { return "slice"; },
                        [](const LinearBackwardData&) { return "linear_backward_data"; },
                        [](const LinearBackwardWeights&) { return "linear_backward_weights"; },
                        [](const Reshape&) { return "reshape"; },
                        [](const DropoutBackward&) { return "dropout_backward"; },
                        [](const UpsampleBackward&) { return "upsample_backward"; },
                        [](const SoftmaxCrossEntropyBackward&) { return "softmax_cross_entropy_backward"; },
                        [](const DiceLossBackward&) { return "dice_loss_backward"; },
                    },
                    op);
}

std::string describe(const Graph& graph, const Node& node) {
  const std::string attributes = std::visit(
      Overloaded{
          [&](const Convolution& op) { return describe_convolution(op, graph.shape(node.inputs[1])); },
          [](const MaxPool& op) { return describe_pool(op); },
          [](const AveragePool& op) { return describe_pool(op); },
          [](const Dropout& op) { return fmt::format(" {}", op.probability); },
          [](const Upsample& op) { return fmt::format(" {}", to_string(op.scale)); },
          [](const Crop& op) {
            return fmt::format(" {} at {}", to_string(op.size), fmt::join(op.begin, ","));
          },
          [](const Fence& op) { return fmt::format(" {}", op.outside); },
          [](const Slice& op) { return fmt::format(" {}..{}", op.begin, op.begin + op.channels); },
          [](const auto&) { return std::string(); },
      },
      node.op);
  return std::string(name_of(node.op)) + attributes;
}

std::string to_string(const Graph& graph) {
  size_t name_width = 5, op_width = 2;
  for (const Node& node : graph.nodes) {
    name_width = std::max(name_width, node.name.size());
    op_width = std::max(op_width, describe(graph, node).size());
  }
  std::string text = fmt::format("{:<{}}  {:<{}}  {:>18}  {:>12}\n", "layer", name_width, "op", op_width,
                                 "output", "parameters");
  for (const Node& node : graph.nodes) {
    text += fmt::format("{:<{}}  {:<{}}  {:>18}  {:>12}\n", node.name, name_width, describe(graph, node),
                        op_width, to_string(graph.shape(node.outputs[0])), parameters_of(graph, node));
  }
  return text;
}

}  // namespace tacho
