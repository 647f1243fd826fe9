#include "engine/reference/run_node.h"

#include "engine/reference/activations.h"
#include "engine/reference/convolution.h"
#include "engine/reference/linear.h"
#include "engine/reference/losses.h"
#include "engine/reference/pooling.h"
#include "engine/reference/shape_ops.h"
#include "graph/dropout.h"

namespace tacho::reference {
namespace {

// Calls the function of each op with the node's tensors.
class NodeRunner {
 public:
  NodeRunner(const Node& node, std::vector<Tensor>& values, const DropoutPass& dropout,
             const Devices& devices)
      : node_(node), values_(values), dropout_(dropout), devices_(devices) {}

  void operator()(const Convolution& op) { convolution(op, in(0), in(1), optional_in(2), out(0)); }
  void operator()(const ConvolutionBackwardData& op) {
    convolution_backward_data(op.forward, in(0), in(1), out(0));
  }
  void operator()(const ConvolutionBackwardWeights& op) {
    convolution_backward_weights(op.forward, in(0), in(1), out(0), optional_out(1));
  }

  void operator()(const Linear&) { linear(in(0), in(1), optional_in(2), out(0)); }
  void operator()(const LinearBackwardData&) { linear_backward_data(in(0), in(1), out(0)); }
  void operator()(const LinearBackwardWeights&) {
    linear_backward_weights(in(0), in(1), out(0), optional_out(1));
  }

  void operator()(const BatchNorm& op) {
    if (op.training) {
      batch_norm_training(op, in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2), devices_);
    } else {
      batch_norm_inference(op, in(0), in(1), in(2), in(3), in(4), out(0));
    }
  }
  void operator()(const BatchNormBackward&) {
    batch_norm_backward(in(0), in(1), in(2), in(3), in(4), out(0), out(1), out(2), devices_);
  }

  void operator()(const Relu&) { relu(in(0), out(0)); }
  void operator()(const ReluBackward&) { relu_backward(in(0), in(1), out(0)); }
  void operator()(const Elu& op) { elu(op, in(0), out(0)); }
  void operator()(const EluBackward& op) { elu_backward(op, in(0), in(1), out(0)); }
  void operator()(const Sigmoid&) { sigmoid(in(0), out(0)); }
  void operator()(const SigmoidBackward&) { sigmoid_backward(in(0), in(1), out(0)); }
  void operator()(const Add&) { add(in(0), in(1), out(0)); }

  void operator()(const Dropout& op) {
    if (op.training) {
      dropout_training(op, dropout_stream(dropout_.seed, node_.name, dropout_.pass), in(0), out(0), out(1));
    } else {
      copy_elements(in(0), out(0));
    }
  }
  void operator()(const DropoutBackward& op) { dropout_backward(op, in(0), in(1), out(0)); }

  void operator()(const MaxPool& op) { max_pool(op, in(0), out(0), optional_out(1)); }
  void operator()(const MaxPoolBackward& op) { max_pool_backward(op.forward, in(0), in(1), out(0)); }
  void operator()(const AveragePool& op) { average_pool(op, in(0), out(0)); }
  void operator()(const AveragePoolBackward& op) { average_pool_backward(op.forward, in(0), out(0)); }
  void operator()(const GlobalAveragePool&) { adaptive_average_pool(in(0), out(0)); }
  void operator()(const GlobalAveragePoolBackward&) { adaptive_average_pool_backward(in(0), out(0)); }
  void operator()(const AdaptiveAveragePool&) { adaptive_average_pool(in(0), out(0)); }
  void operator()(const AdaptiveAveragePoolBackward&) { adaptive_average_pool_backward(in(0), out(0)); }

  void operator()(const Concat&) {
    std::vector<const Tensor*> parts;
    for (size_t i = 0; i < node_.inputs.size(); ++i) parts.push_back(&in(i));
    concat(parts, out(0));
  }
  void operator()(const Slice& op) { slice(op, in(0), out(0)); }
  void operator()(const Flatten&) { copy_elements(in(0), out(0)); }
  void operator()(const Reshape&) { copy_elements(in(0), out(0)); }
  void operator()(const Upsample& op) { upsample(op, in(0), out(0)); }
  void operator()(const Crop& op) { crop(op, in(0), out(0)); }
  void operator()(const Fence& op) { fence(op, in(0), in(1), out(0)); }
  void operator()(const UpsampleBackward& op) { upsample_backward(op, in(0), out(0)); }

  void operator()(const SoftmaxCrossEntropy& op) {
    softmax_cross_entropy(op.smoothing, in(0), in(1), out(0), out(1));
  }
  void operator()(const SoftmaxCrossEntropyBackward& op) {
    softmax_cross_entropy_backward(op.smoothing, in(0), in(1), out(0));
  }
  void operator()(const DiceLoss&) { dice_loss(in(0), in(1), out(0), out(1)); }
  void operator()(const DiceLossBackward&) { dice_loss_backward(in(0), in(1), in(2), out(0)); }

 private:
  Tensor& at(ValueId id) { return values_[static_cast<size_t>(id)]; }
  Tensor& in(size_t i) { return at(node_.inputs[i]); }
  Tensor& out(size_t i) { return at(node_.outputs[i]); }
  const Tensor* optional_in(size_t i) { return i < node_.inputs.size() ? &in(i) : nullptr; }
  Tensor* optional_out(size_t i) { return i < node_.outputs.size() ? &out(i) : nullptr; }

  const Node& node_;
  std::vector<Tensor>& values_;
  const DropoutPass& dropout_;
  const Devices& devices_;
};

}  // namespace

void run_node(const Node& node, std::vector<Tensor>& values, const DropoutPass& dropout,
              const Devices& devices) {
  std::visit(NodeRunner(node, values, dropout, devices), node.op);
}

}  // namespace tacho::reference
