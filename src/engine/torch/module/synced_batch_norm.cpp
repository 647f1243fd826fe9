#include "engine/torch/module/synced_batch_norm.h"

#include <torch/csrc/autograd/custom_function.h>

#include <numeric>

namespace tacho::torch_engine {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The sum of every device's numbers. The gradient of its inputs is the sum of what every device asks of it.
class Sum : public torch::autograd::Function<Sum> {
 public:
  static at::Tensor forward(AutogradContext* context, const at::Tensor& numbers, int64_t devices) {
    context->saved_data["devices"] = devices;
    return summed(numbers, devices);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    return {summed(gradients[0], context->saved_data["devices"].toInt()), at::Tensor()};
  }

 private:
  // Autograd keeps numbers for its functions, not references.
  static at::Tensor summed(const at::Tensor& numbers, int64_t devices) {
    at::Tensor sums = numbers.to(at::kCPU, at::kDouble).contiguous().clone();
    reinterpret_cast<SumOverDevices*>(devices)->sum(
        {sums.data_ptr<double>(), static_cast<size_t>(sums.numel())});
    return sums.to(numbers.device());
  }
};

}  // namespace

at::Tensor synced_batch_norm(const BatchNorm& op, const BatchNormInputs& inputs, SumOverDevices& devices) {
  const at::Tensor& x = inputs.x;
  const int64_t channels = x.size(1);
  std::vector<int64_t> all_but_channels(static_cast<size_t>(x.dim()) - 1, 0);
  std::iota(all_but_channels.begin() + 1, all_but_channels.end(), 2);
  std::vector<int64_t> per_channel(static_cast<size_t>(x.dim()), 1);
  per_channel[1] = channels;

  const at::Tensor wide = x.to(at::kDouble);
  const at::Tensor sums =
      Sum::apply(at::stack({wide.sum(all_but_channels), wide.square().sum(all_but_channels)}),
                 reinterpret_cast<int64_t>(&devices));
  const auto count = static_cast<double>(x.numel() / channels * devices.devices());
  const at::Tensor mean = sums[0] / count;
  const at::Tensor variance = (sums[1] / count - mean.square()).clamp_min(0);
  {
    const at::NoGradGuard no_gradients;
    at::Tensor running_mean = inputs.running_mean, running_variance = inputs.running_variance;
    running_mean.mul_(1 - op.momentum).add_(mean.to(at::kFloat), op.momentum);
    running_variance.mul_(1 - op.momentum)
        .add_((variance * (count / (count - 1))).to(at::kFloat), op.momentum);
  }
  const at::Tensor scale = (variance + op.epsilon).rsqrt() * inputs.weight;
  const at::Tensor shift = inputs.bias - mean * scale;
  return (wide * scale.view(per_channel) + shift.view(per_channel)).to(x.scalar_type());
}

}  // namespace tacho::torch_engine
