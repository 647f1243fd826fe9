#include "graph/shape_inference.h"

#include <fmt/format.h>

#include <cassert>

#include "base/error.h"
#include "graph/window.h"

namespace tacho {
namespace {

// What inference of one node needs: its inputs, and a way to say what does not fit.
class Inference {
 public:
  Inference(std::string_view layer, const std::vector<TensorType>& inputs) : layer_(layer), inputs_(inputs) {}

  template<typename... Args>
  void require(bool fits, fmt::format_string<Args...> text, Args&&... args) const {
    if (!fits) throw UserError("{}: {}", layer_, fmt::format(text, std::forward<Args>(args)...));
  }

  const Shape& shape(size_t i) const { return inputs_[i].shape; }
  const std::vector<TensorType>& inputs() const { return inputs_; }
  size_t spatial_rank() const { return shape(0).size() - 2; }

  void require_activation() const {
    require(shape(0).size() >= 3, "needs an input of N, C and spatial axes, got {}", to_string(shape(0)));
  }
  void require_per_axis(const Extents& attribute, std::string_view name) const {
    require(attribute.size() == spatial_rank(), "{} {} does not match the {} spatial axes of the input {}",
            name, to_string(attribute), spatial_rank(), to_string(shape(0)));
  }
  void require_same(size_t i, size_t j) const {
    require(shape(i) == shape(j), "the inputs {} and {} differ", to_string(shape(i)), to_string(shape(j)));
  }
  void require_vector(size_t i, int64_t length) const {
    require(shape(i) == Shape{length}, "expects {} values, got {}", length, to_string(shape(i)));
  }

  Shape pooled(const Extents& kernel, const Extents& stride, const Extents& padding, bool ceil_mode) const {
    require_activation();
    require_per_axis(kernel, "kernel");
    require_per_axis(stride, "stride");
    require_per_axis(padding, "padding");
    Shape result = {shape(0)[0], shape(0)[1]};
    for (size_t axis = 0; axis < spatial_rank(); ++axis) {
      require(2 * padding[axis] <= kernel[axis], "padding {} is more than half of the kernel {}",
              padding[axis], kernel[axis]);
      const Window window{kernel[axis], stride[axis], padding[axis], 1, ceil_mode};
      result.push_back(positive_extent(axis, window));
    }
    return result;
  }

  Shape convolved(const Convolution& conv) const {
    require_activation();
    require_per_axis(conv.stride, "stride");
    require_per_axis(conv.padding, "padding");
    require_per_axis(conv.dilation, "dilation");
    const Shape& weight = shape(1);
    require(weight.size() == shape(0).size(), "the weight {} does not match the input {}", to_string(weight),
            to_string(shape(0)));
    require(weight[0] % conv.groups == 0 && weight[1] * conv.groups == shape(0)[1],
            "the weight {} in {} groups does not match {} input channels", to_string(weight), conv.groups,
            shape(0)[1]);
    Shape result = {shape(0)[0], weight[0]};
    for (size_t axis = 0; axis < spatial_rank(); ++axis) {
      const Window window{weight[axis + 2], conv.stride[axis], conv.padding[axis], conv.dilation[axis],
                          false};
      result.push_back(positive_extent(axis, window));
    }
    return result;
  }

 private:
  int64_t positive_extent(size_t axis, const Window& window) const {
    const int64_t extent = output_extent(shape(0)[axis + 2], window);
    require(extent >= 1, "the input {} is too small for a kernel of {} with padding {}", to_string(shape(0)),
            window.kernel, window.padding);
    return extent;
  }

  std::string_view layer_;
  const std::vector<TensorType>& inputs_;
};

using Types = std::vector<TensorType>;

Types infer(const Convolution& op, const Inference& in) {
  const Shape result = in.convolved(op);
  if (in.inputs().size() > 2) in.require_vector(2, result[1]);
  return {{result}};
}

Types infer(const BatchNorm& op, const Inference& in) {
  in.require_activation();
  const int64_t channels = in.shape(0)[1];
  for (size_t i = 1; i < 5; ++i) in.require_vector(i, channels);
  if (!op.training) return {{in.shape(0)}};
  in.require(elements(in.shape(0)) > channels,
             "batch norm cannot train on one value per channel ({}); use a larger batch or image",
             to_string(in.shape(0)));
  return {{in.shape(0)}, {{channels}}, {{channels}}};
}

Types infer(const Relu&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const Elu&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const Sigmoid&, const Inference& in) { return {{in.shape(0)}}; }

Types infer(const MaxPool& op, const Inference& in) {
  const Shape result = in.pooled(op.kernel, op.stride, op.padding, op.ceil_mode);
  if (!op.training) return {{result}};
  in.require(elements(op.kernel) <= 256, "a window of {} cells does not fit an 8-bit position",
             to_string(op.kernel));
  return {{result}, {result, DType::u8}};
}

Types infer(const AveragePool& op, const Inference& in) {
  return {{in.pooled(op.kernel, op.stride, op.padding, op.ceil_mode)}};
}

Types infer(const GlobalAveragePool&, const Inference& in) {
  in.require_activation();
  Shape result(in.shape(0).size(), 1);
  result[0] = in.shape(0)[0];
  result[1] = in.shape(0)[1];
  return {{result}};
}

Types infer(const AdaptiveAveragePool& op, const Inference& in) {
  in.require_activation();
  in.require_per_axis(op.output, "output");
  Shape result = {in.shape(0)[0], in.shape(0)[1]};
  result.insert(result.end(), op.output.begin(), op.output.end());
  return {{result}};
}

Types infer(const Add&, const Inference& in) {
  in.require_same(0, 1);
  return {{in.shape(0)}};
}

Types infer(const Concat&, const Inference& in) {
  Shape result = in.shape(0);
  for (size_t i = 1; i < in.inputs().size(); ++i) {
    Shape part = in.shape(i);
    in.require(part.size() == result.size(), "cannot join {} and {}", to_string(in.shape(0)),
               to_string(part));
    result[1] += part[1];
    part[1] = in.shape(0)[1];
    in.require(part == in.shape(0), "cannot join {} and {}: only channels may differ", to_string(in.shape(0)),
               to_string(in.shape(i)));
  }
  return {{result}};
}

Types infer(const Linear&, const Inference& in) {
  const Shape &x = in.shape(0), &weight = in.shape(1);
  in.require(x.size() == 2 && weight.size() == 2 && weight[1] == x[1],
             "the weight {} does not match the input {}", to_string(weight), to_string(x));
  if (in.inputs().size() > 2) in.require_vector(2, weight[0]);
  return {{{x[0], weight[0]}}};
}

Types infer(const Flatten&, const Inference& in) {
  const Shape& x = in.shape(0);
  return {{{x[0], x[0] == 0 ? 0 : elements(x) / x[0]}}};
}

Types infer(const Dropout& op, const Inference& in) {
  if (!op.training) return {{in.shape(0)}};
  return {{in.shape(0)}, {in.shape(0), DType::u8}};
}

Types infer(const Upsample& op, const Inference& in) {
  in.require_activation();
  in.require_per_axis(op.scale, "scale");
  Shape result = in.shape(0);
  for (size_t axis = 0; axis < op.scale.size(); ++axis) result[axis + 2] *= op.scale[axis];
  return {{result}};
}

Types infer(const Crop& op, const Inference& in) {
  in.require_activation();
  in.require_per_axis(op.size, "size");
  in.require(op.begin.size() == op.size.size(), "needs a begin for each of {} axes, got {}", op.size.size(),
             op.begin.size());
  Shape result = {in.shape(0)[0], in.shape(0)[1]};
  result.insert(result.end(), op.size.begin(), op.size.end());
  return {{result}};
}

Types infer(const Fence&, const Inference& in) {
  in.require_activation();
  const auto axes = static_cast<int64_t>(in.shape(0).size()) - 2;
  in.require(in.shape(1) == Shape{2, axes}, "needs bounds of 2x{}, got {}", axes, to_string(in.shape(1)));
  return {{in.shape(0)}};
}

Types infer(const SoftmaxCrossEntropy&, const Inference& in) {
  const Shape& logits = in.shape(0);
  in.require(logits.size() == 2, "needs logits of N, classes; got {}", to_string(logits));
  in.require(in.shape(1) == Shape{logits[0]}, "needs one label for each of {} images, got {}", logits[0],
             to_string(in.shape(1)));
  return {{Shape{}}, {logits}};
}

Types infer(const DiceLoss&, const Inference& in) {
  in.require_same(0, 1);
  return {{Shape{}}, {{2, in.shape(0)[1]}}};
}

Types infer(const ConvolutionBackwardData& op, const Inference&) { return {{op.input}}; }

Types infer(const ConvolutionBackwardWeights& op, const Inference&) {
  if (!op.bias) return {{op.weight}};
  return {{op.weight}, {{op.weight[0]}}};
}

Types infer(const BatchNormBackward&, const Inference& in) {
  return {{in.shape(0)}, {in.shape(1)}, {in.shape(1)}};
}

Types infer(const ReluBackward&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const EluBackward&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const SigmoidBackward&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const MaxPoolBackward& op, const Inference&) { return {{op.input}}; }
Types infer(const AveragePoolBackward& op, const Inference&) { return {{op.input}}; }
Types infer(const GlobalAveragePoolBackward& op, const Inference&) { return {{op.input}}; }
Types infer(const AdaptiveAveragePoolBackward& op, const Inference&) { return {{op.input}}; }

Types infer(const Slice& op, const Inference& in) {
  Shape result = in.shape(0);
  in.require(op.begin + op.channels <= result[1], "channels {}..{} are not in {}", op.begin,
             op.begin + op.channels, to_string(result));
  result[1] = op.channels;
  return {{result}};
}

Types infer(const LinearBackwardData&, const Inference& in) { return {{{in.shape(0)[0], in.shape(1)[1]}}}; }

Types infer(const LinearBackwardWeights& op, const Inference& in) {
  const int64_t features = in.shape(1)[1];
  if (!op.bias) return {{{features, in.shape(0)[1]}}};
  return {{{features, in.shape(0)[1]}}, {{features}}};
}

Types infer(const Reshape& op, const Inference&) { return {{op.input}}; }
Types infer(const DropoutBackward&, const Inference& in) { return {{in.shape(1)}}; }

Types infer(const UpsampleBackward& op, const Inference& in) {
  Shape result = in.shape(0);
  for (size_t axis = 0; axis < op.scale.size(); ++axis) result[axis + 2] /= op.scale[axis];
  return {{result}};
}

Types infer(const SoftmaxCrossEntropyBackward&, const Inference& in) { return {{in.shape(0)}}; }
Types infer(const DiceLossBackward&, const Inference& in) { return {{in.shape(0)}}; }

}  // namespace

std::vector<TensorType> infer_types(const Op& op, std::string_view layer,
                                    const std::vector<TensorType>& inputs) {
  const Inference inference(layer, inputs);
  return std::visit([&](const auto& o) { return infer(o, inference); }, op);
}

ValueId append_node(Graph& graph, std::string name, Op op, std::vector<ValueId> inputs) {
  std::vector<TensorType> types;
  for (ValueId id : inputs) types.push_back({graph.shape(id), graph.value(id).dtype});
  Node node{std::move(op), std::move(name), std::move(inputs), {}};
  for (TensorType& type : infer_types(node.op, node.name, types)) {
    node.outputs.push_back(static_cast<ValueId>(graph.values.size()));
    graph.values.push_back({node.name, std::move(type.shape), type.dtype, Role::activation, {}});
  }
  graph.nodes.push_back(std::move(node));
  return graph.nodes.back().outputs.front();
}

}  // namespace tacho
