#include "engine/torch/module/forward_ops.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "engine/torch/module/synced_batch_norm.h"
#include "graph/dropout.h"

namespace tacho::torch_engine {
namespace {

std::vector<int64_t> ones(size_t count) { return std::vector<int64_t>(count, 1); }

// Calls the function of each op with the node's tensors, as a user of PyTorch would.
class NodeRunner {
 public:
  NodeRunner(const Node& node, std::vector<at::Tensor>& values, const Pass& pass, bool may_overwrite)
      : node_(node), values_(values), pass_(pass), may_overwrite_(may_overwrite) {}

  void operator()(const Convolution& op) {
    const auto convolve = [&](auto function) {
      out(0) = function(in(0), in(1), optional_in(2), op.stride, op.padding, op.dilation, op.groups);
    };
    // By their own names, which autocast knows.
    switch (axes()) {
      case 1: return convolve([](auto&&... of) { return at::conv1d(of...); });
      case 2: return convolve([](auto&&... of) { return at::conv2d(of...); });
      case 3: return convolve([](auto&&... of) { return at::conv3d(of...); });
      default: throw_axes();
    }
  }
  void operator()(const Linear&) { out(0) = at::linear(in(0), in(1), optional_in(2)); }

  void operator()(const BatchNorm& op) {
    if (op.training && pass_.batch_norm_sums != nullptr) {
      out(0) = synced_batch_norm(op, {in(0), in(1), in(2), in(3), in(4)}, *pass_.batch_norm_sums);
      return;
    }
    out(0) = at::batch_norm(in(0), in(1), in(2), in(3), in(4), op.training, op.momentum, op.epsilon, true);
  }

  void operator()(const Relu&) { out(0) = may_overwrite_ ? in(0).relu_() : in(0).relu(); }
  void operator()(const Elu& op) { out(0) = at::elu(in(0), op.alpha); }
  void operator()(const Sigmoid&) { out(0) = at::sigmoid(in(0)); }
  void operator()(const Add&) { out(0) = may_overwrite_ ? in(0).add_(in(1)) : in(0).add(in(1)); }

  void operator()(const Dropout& op) { out(0) = op.training ? in(0) * dropout_mask(op) : in(0); }

  void operator()(const MaxPool& op) {
    const auto pool = [&](auto function) {
      out(0) = function(in(0), op.kernel, op.stride, op.padding, ones(op.kernel.size()), op.ceil_mode);
    };
    switch (axes()) {
      case 1: return pool([](auto&&... of) { return at::max_pool1d(of...); });
      case 2: return pool([](auto&&... of) { return at::max_pool2d(of...); });
      case 3: return pool([](auto&&... of) { return at::max_pool3d(of...); });
      default: throw_axes();
    }
  }
  void operator()(const AveragePool& op) {
    const auto pool = [&](auto function) {
      out(0) = function(in(0), op.kernel, op.stride, op.padding, op.ceil_mode, op.count_padding);
    };
    switch (axes()) {
      case 1: return pool([](auto&&... of) { return at::avg_pool1d(of...); });
      case 2: return pool([](auto&&... of) { return at::avg_pool2d(of...); });
      case 3: return pool([](auto&&... of) { return at::avg_pool3d(of...); });
      default: throw_axes();
    }
  }
  void operator()(const GlobalAveragePool&) { adaptive_pool(ones(static_cast<size_t>(axes()))); }
  void operator()(const AdaptiveAveragePool& op) { adaptive_pool(op.output); }

  void operator()(const Concat&) {
    std::vector<at::Tensor> parts;
    for (const ValueId id : node_.inputs) parts.push_back(value(id));
    out(0) = at::cat(parts, 1);
  }
  void operator()(const Flatten&) { out(0) = in(0).flatten(1); }

  void operator()(const Upsample& op) {
    std::vector<int64_t> size = in(0).sizes().slice(2).vec();
    for (size_t axis = 0; axis < size.size(); ++axis) size[axis] *= op.scale[axis];
    switch (axes()) {
      case 1: out(0) = at::upsample_nearest1d(in(0), size); return;
      case 2: out(0) = at::upsample_nearest2d(in(0), size); return;
      case 3: out(0) = at::upsample_nearest3d(in(0), size); return;
      default: throw_axes();
    }
  }

  // Paddings that are negative crop.
  void operator()(const Crop& op) {
    std::vector<int64_t> paddings;
    for (size_t axis = op.begin.size(); axis-- > 0;) {
      const int64_t extent = in(0).size(static_cast<int64_t>(axis) + 2);
      paddings.push_back(-op.begin[axis]);
      paddings.push_back(op.begin[axis] + op.size[axis] - extent);
    }
    out(0) = at::constant_pad_nd(in(0), paddings);
  }
  void operator()(const Fence& op) {
    at::Tensor fenced = at::full_like(in(0), op.outside), inside = fenced, source = in(0);
    const at::Tensor bounds = in(1).to(at::kCPU).view({2, -1});
    const auto bound = bounds.accessor<int64_t, 2>();
    for (int64_t axis = 0; axis < bounds.size(1); ++axis) {
      // Bounds may lie beyond the tensor, where a slice would count from its end.
      const int64_t extent = in(0).size(axis + 2);
      const int64_t begin = std::clamp<int64_t>(bound[0][axis], 0, extent),
                    end = std::clamp<int64_t>(bound[1][axis], begin, extent);
      inside = inside.slice(axis + 2, begin, end);
      source = source.slice(axis + 2, begin, end);
    }
    inside.copy_(source);
    out(0) = fenced;
  }

  // Losses are computed in single precision.
  void operator()(const SoftmaxCrossEntropy& op) {
    const at::Tensor logits = in(0).to(at::kFloat);
    out(0) = at::cross_entropy_loss(logits, in(1), {}, at::Reduction::Mean, -100, op.smoothing);
  }
  void operator()(const DiceLoss&) {
    const at::Tensor x = in(0).to(at::kFloat), &target = in(1);
    std::vector<int64_t> all_but_channels = {0};
    for (int64_t axis = 2; axis < x.dim(); ++axis) all_but_channels.push_back(axis);
    const at::Tensor numerator = 2 * (x * target).sum(all_but_channels);
    const at::Tensor denominator =
        (x.square().sum(all_but_channels) + target.square().sum(all_but_channels)).clamp_min(kDiceFloor);
    out(0) = -(numerator / denominator).sum();
  }

  // Autograd has backward passes of its own.
  template<typename BackwardOp>
  void operator()(const BackwardOp&) {
    throw std::logic_error("[torch] " + node_.name + " is not of a forward pass");
  }

 private:
  at::Tensor& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  at::Tensor& in(size_t i) { return value(node_.inputs[i]); }
  at::Tensor& out(size_t i) { return value(node_.outputs[i]); }
  c10::optional<at::Tensor> optional_in(size_t i) {
    return i < node_.inputs.size() ? c10::optional<at::Tensor>(in(i)) : c10::nullopt;
  }
  int64_t axes() { return in(0).dim() - 2; }
  [[noreturn]] void throw_axes() { throw std::logic_error("[torch] " + node_.name + ": too many axes"); }

  void adaptive_pool(const Extents& size) {
    switch (axes()) {
      case 1: out(0) = at::adaptive_avg_pool1d(in(0), size); return;
      case 2: out(0) = at::adaptive_avg_pool2d(in(0), size); return;
      case 3: out(0) = at::adaptive_avg_pool3d(in(0), size); return;
      default: throw_axes();
    }
  }

  // 0, or the scale of what is kept: the same elements on every engine.
  at::Tensor dropout_mask(const Dropout& op) {
    const Random stream = dropout_stream(pass_.seed, node_.name, pass_.number);
    const auto scale = static_cast<float>(1 / (1 - op.probability));
    at::Tensor mask = at::empty(in(0).sizes());
    float* const values = mask.data_ptr<float>();
    at::parallel_for(0, mask.numel(), 1 << 12, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        values[i] = dropout_keeps(stream, static_cast<uint64_t>(i), op.probability) ? scale : 0;
    });
    return mask.to(in(0).options());
  }

  const Node& node_;
  std::vector<at::Tensor>& values_;
  const Pass& pass_;
  bool may_overwrite_;
};

}  // namespace

void run_forward(const Node& node, std::vector<at::Tensor>& values, const Pass& pass, bool may_overwrite) {
  std::visit(NodeRunner(node, values, pass, may_overwrite), node.op);
}

}  // namespace tacho::torch_engine
