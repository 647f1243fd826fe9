#include "engine/torch/module/torch_plan.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>

#include "engine/torch/module/device.h"
#include "engine/torch/module/flat_parameters.h"
#include "engine/torch/module/forward_ops.h"
#include "engine/torch/module/layout.h"
#include "engine/torch/module/lifetimes.h"
#include "engine/torch/module/loss_scale.h"
#include "engine/torch/module/precision.h"
#include "engine/torch/module/tensors.h"
#include "engine/torch/module/translated.h"

namespace tacho::torch_engine {
namespace {

namespace autograd = torch::autograd;

// Setting them forgets the convolutions that were made ready.
void set_threads(int threads) {
  if (at::get_num_threads() != threads) at::set_num_threads(threads);
}

// Tells a plan when autograd has added the last of a parameter's gradient.
class WhenFinal : public autograd::FunctionPostHook {
 public:
  explicit WhenFinal(std::function<void()> tell) : tell_(std::move(tell)) {}
  autograd::variable_list operator()(const autograd::variable_list& outputs,
                                     const autograd::variable_list&) override {
    tell_();
    return outputs;
  }

 private:
  std::function<void()> tell_;
};

// Runs the forward nodes of a graph op by op, as PyTorch does, and leaves the backward pass to autograd:
// so it allocates in every pass, as PyTorch does.
class TorchPlan final : public Plan {
 public:
  TorchPlan(const Graph& graph, const Weights& weights, const CompileOptions& options, bool scales_losses,
            bool like_gpu)
      : graph_(graph),
        options_(options),
        device_(options.device),
        layout_(options.kernel.empty() ? Layout::channels_last : find_layout(options.kernel)),
        staged_(like_gpu && !options.gradients_on_device),
        copies_(like_gpu, device_.is_cuda()),
        lifetimes_(find_lifetimes(graph)),
        values_(graph.values.size()),
        flat_(graph, options.update, device_, staged_) {
    forget_peak_of(device_);
    for (const ValueId id : graph_.inputs) value(id) = empty(id);
    for (const ValueId id : graph_.weights()) {
      const Trained* trained = flat_.find(id);
      value(id) = trained == nullptr ? empty(id) : trained->value;
      write(id, weights.at(graph_.value(id).name));
    }
    if (has_input_gradient()) value(graph_.inputs[0]).set_requires_grad(true);
    if (graph_.training && scales_losses) scale_.emplace();
    final_.resize(flat_.trained().size());
    for (size_t i = 0; i < flat_.trained().size(); ++i) watch(i);
  }

  void write(ValueId id, const Tensor& tensor) override {
    translated([&] { copies_.from_host(tensor, value(id)); });
  }

  Tensor read(ValueId id) const override {
    const Value& of = graph_.value(id);
    Tensor tensor(of.shape, of.dtype);
    read_into(id, tensor);
    return tensor;
  }

  void read_into(ValueId id, Tensor& tensor) const override {
    translated([&] { copies_.to_host(readable(id), tensor); });
  }

  void forward() override {
    translated([&] {
      use_settings();
      const c10::InferenceMode inference(!graph_.training);
      const PrecisionScope precision(options_.precision, device_);
      const Pass pass = {options_.seed, passes_, options_.batch_norm_sums};
      for (size_t i = 0; i < graph_.backward_begin; ++i) {
        run_forward(graph_.nodes[i], values_, pass, lifetimes_[i].may_overwrite);
        for (const ValueId id : lifetimes_[i].last_used) value(id).reset();
      }
      ++passes_;
      finish_work_on(device_);
    });
  }

  void backward(GradientSink* sink) override {
    translated([&] {
      use_settings();
      flat_.zero_gradients();
      value(graph_.inputs[0]).mutable_grad().reset();
      std::ranges::fill(final_, 0);
      sink_ = sink;
      taken_ = 0;
      at::Tensor& loss = value(graph_.outputs[1]);
      autograd::backward({scale_ ? loss * scale_->value() : loss}, {});
      loss = loss.detach();
      if (scale_) unscale_gradients();
      // What the loss does not depend on has the gradient 0.
      std::ranges::fill(final_, 1);
      if (sink != nullptr && staged_) flat_.fetch_gradients();
      if (sink != nullptr) hand_over();
      finish_work_on(device_);
    });
  }

  void wait_for_device() const override { finish_work_on(device_); }

  void update(std::optional<double> learning_rate) override {
    translated([&] {
      use_settings();
      UpdateRule rule = options_.update;
      if (learning_rate) std::visit([&](auto& of) { of.learning_rate = *learning_rate; }, rule);
      if (sink_ != nullptr && staged_) flat_.put_back_gradients();
      // After the exchange, so that all devices decide alike.
      if (scale_ && !scale_->accept(flat_.gradients_are_finite())) {
        ++steps_left_out_;
        return;
      }
      flat_.update(rule, ++updates_);
      finish_work_on(device_);
    });
  }

  bool trains() const override { return graph_.training; }

  std::vector<std::span<float>> gradients() override {
    std::vector<std::span<float>> ranges;
    for (const Trained& trained : flat_.trained()) ranges.push_back(flat_.gradient_span(trained));
    return ranges;
  }

  Tensor read_state(ValueId parameter, int which) const override {
    Tensor tensor(graph_.shape(parameter), DType::f32);
    translated([&] { copies_.to_host(flat_.state(*flat_.find(parameter), which), tensor); });
    return tensor;
  }
  void write_state(ValueId parameter, int which, const Tensor& tensor) override {
    translated([&] { copies_.from_host(tensor, flat_.state(*flat_.find(parameter), which)); });
  }

  PlanCounters counters() const override { return {passes_, updates_}; }
  void set_counters(const PlanCounters& counters) override {
    passes_ = counters.passes;
    updates_ = counters.updates;
  }

  bool reduce_loss_scale() override { return scale_ && scale_->reduce(); }
  int64_t steps_left_out() const override { return steps_left_out_; }

  std::optional<int64_t> peak_device_bytes() const override {
    return torch_engine::peak_device_bytes(device_);
  }

  int64_t memory_bytes() const override {
    int64_t bytes = flat_.bytes();
    for (const auto& ids : {graph_.inputs, graph_.weights()}) {
      for (const ValueId id : ids) {
        if (flat_.find(id) == nullptr) bytes += static_cast<int64_t>(value(id).nbytes());
      }
    }
    return bytes;
  }

 private:
  // libtorch's are the process's: another plan may have had its turn.
  void use_settings() const {
    set_threads(options_.threads);
    make_current(device_);
    at::globalContext().setBenchmarkCuDNN(options_.autotune);
  }
  at::Tensor& value(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const at::Tensor& value(ValueId id) const { return values_[static_cast<size_t>(id)]; }

  bool has_input_gradient() const { return graph_.training && graph_.outputs.size() > 2; }

  at::Tensor empty(ValueId id) const {
    const Value& of = graph_.value(id);
    return at::empty(of.shape,
                     at::TensorOptions(device_)
                         .dtype(scalar_type(of.dtype))
                         .memory_format(memory_format(layout_, static_cast<int64_t>(of.shape.size()))));
  }

  at::Tensor readable(ValueId id) const {
    for (const Trained& trained : flat_.trained()) {
      if (trained.gradient == id) return flat_.gradient(trained);
    }
    const bool of_input = has_input_gradient() && graph_.outputs[2] == id;
    return of_input ? value(graph_.inputs[0]).grad() : value(id);
  }

  void watch(size_t number) {
    const auto accumulator = autograd::impl::grad_accumulator(flat_.trained()[number].value);
    accumulator->add_post_hook(std::make_unique<WhenFinal>([this, number] {
      final_[number] = 1;
      if (sink_ != nullptr && !staged_) hand_over();
    }));
    accumulators_.push_back(accumulator);
  }

  // All at once, but those that are handed over as they become final.
  void unscale_gradients() {
    const at::NoGradGuard no_gradients;
    if (sink_ == nullptr || staged_) flat_.multiply_gradients(1 / scale_->value());
    if (has_input_gradient()) value(graph_.inputs[0]).mutable_grad().mul_(1 / scale_->value());
  }

  // In their order, as far as all are final.
  void hand_over() {
    const at::NoGradGuard no_gradients;
    for (; taken_ < final_.size() && final_[taken_]; ++taken_) {
      const Trained& trained = flat_.trained()[taken_];
      if (scale_ && !staged_) flat_.gradient(trained).mul_(1 / scale_->value());
      sink_->take(flat_.gradient_span(trained));
    }
  }

  Graph graph_;
  CompileOptions options_;
  at::Device device_;
  Layout layout_;
  bool staged_;  // gradients are handed over in memory of the host's own
  mutable HostCopies copies_;
  std::optional<LossScale> scale_;  // starts anew with each plan
  std::vector<NodeLifetimes> lifetimes_;
  std::vector<at::Tensor> values_;  // by ValueId; those of activations only while they are needed
  FlatParameters flat_;
  std::vector<std::shared_ptr<autograd::Node>> accumulators_;  // which parameters do not keep themselves
  std::vector<char> final_;                                    // by trained parameter, of this backward pass
  size_t taken_ = 0;                                           // by the sink
  GradientSink* sink_ = nullptr;                               // of the last backward pass
  uint64_t passes_ = 0;
  int64_t updates_ = 0, steps_left_out_ = 0;
};

std::unique_ptr<Plan> make_plan(const Graph& graph, const Weights& weights, const CompileOptions& options,
                                bool scales_losses, bool like_gpu) {
  return translated([&]() -> std::unique_ptr<Plan> {
    set_threads(options.threads);
    make_current(at::Device(options.device));
    return std::make_unique<TorchPlan>(graph, weights, options, scales_losses, like_gpu);
  });
}

}  // namespace

std::unique_ptr<Plan> compile(const Graph& graph, Weights weights, const CompileOptions& options) {
  return make_plan(graph, weights, options, scales_losses(options.precision), options.device != kCpu);
}

std::unique_ptr<Plan> compile_like_gpu(const Graph& graph, Weights weights, const CompileOptions& options) {
  return make_plan(graph, weights, options, true, true);
}

int threads_of(int allowed) {
  set_threads(allowed);
  return at::get_num_threads();
}

}  // namespace tacho::torch_engine
