#include "engine/reference/reference_engine.h"

#include <algorithm>
#include <cassert>

#include "base/memory.h"
#include "engine/memory_estimate.h"
#include "engine/reference/run_node.h"

namespace tacho {
namespace {

class ReferencePlan final : public Plan {
 public:
  ReferencePlan(const Graph& graph, const Weights& weights, const CompileOptions& options)
      : graph_(graph), options_(options) {
    for (const Value& value : graph_.values) values_.emplace_back(value.shape, value.dtype);
    for (const ValueId id : graph_.weights()) write(id, weights.at(graph_.value(id).name));
    for (const auto& [parameter, gradient] : graph_.gradients) {
      const int64_t count = state_per_parameter(options_.update) * at(parameter).size();
      optimizer_state_.emplace_back(Shape{count}, DType::f32);
    }
    find_final_gradients();
    make_room_for_sums();
  }

  void write(ValueId value, const Tensor& tensor) override {
    assert(tensor.shape() == at(value).shape() && tensor.dtype() == at(value).dtype());
    at(value) = tensor.clone();
  }

  Tensor read(ValueId value) const override { return values_[static_cast<size_t>(value)].clone(); }

  void read_into(ValueId value, Tensor& tensor) const override {
    const Tensor& source = values_[static_cast<size_t>(value)];
    assert(tensor.shape() == source.shape() && tensor.dtype() == source.dtype());
    std::copy_n(source.raw(), source.bytes(), tensor.raw());
  }

  void forward() override {
    run(0, graph_.backward_begin);
    ++pass_;
  }

  void backward(GradientSink* sink) override {
    size_t begin = graph_.backward_begin;
    for (const auto& [end, gradient] : final_gradients_) {
      run(begin, end);
      begin = end;
      if (sink != nullptr) sink->take(at(gradient).values<float>());
    }
    run(begin, graph_.nodes.size());
  }

  bool trains() const override { return graph_.training; }
  std::vector<std::span<float>> gradients() override {
    std::vector<std::span<float>> ranges;
    for (const FinalGradient& final : final_gradients_) ranges.push_back(at(final.gradient).values<float>());
    return ranges;
  }

  void update(std::optional<double> learning_rate) override {
    UpdateRule rule = options_.update;
    if (learning_rate) std::visit([&](auto& of) { of.learning_rate = *learning_rate; }, rule);
    ++step_;
    for (size_t i = 0; i < graph_.gradients.size(); ++i) {
      const auto [parameter, gradient] = graph_.gradients[i];
      apply_update_reference(rule, step_, at(parameter).values<float>(), at(gradient).values<float>(),
                             optimizer_state_[i].values<float>());
    }
  }

  Tensor read_state(ValueId parameter, int which) const override {
    const Tensor& like = values_[static_cast<size_t>(parameter)];
    const auto count = static_cast<size_t>(like.size());
    const auto state = optimizer_state_[state_index(parameter)].values<float>();
    return Tensor::from(like.shape(), state.subspan(static_cast<size_t>(which) * count, count));
  }

  void write_state(ValueId parameter, int which, const Tensor& tensor) override {
    const auto state = optimizer_state_[state_index(parameter)].values<float>();
    const auto begin = static_cast<std::ptrdiff_t>(which) * tensor.size();
    std::ranges::copy(tensor.values<float>(), state.begin() + begin);
  }

  PlanCounters counters() const override { return {pass_, step_}; }
  void set_counters(const PlanCounters& counters) override {
    pass_ = counters.passes;
    step_ = counters.updates;
  }

  int64_t memory_bytes() const override { return estimate_separate_plan_bytes(graph_, options_.update); }

 private:
  // A gradient that no node from `end` on touches.
  struct FinalGradient {
    size_t end = 0;
    ValueId gradient = {};
  };

  void find_final_gradients() {
    for (const auto& [parameter, gradient] : graph_.gradients) {
      final_gradients_.push_back({graph_.backward_begin, gradient});
      for (size_t i = graph_.backward_begin; i < graph_.nodes.size(); ++i) {
        const Node& node = graph_.nodes[i];
        const bool touches =
            std::ranges::count(node.outputs, gradient) + std::ranges::count(node.inputs, gradient) > 0;
        if (touches) final_gradients_.back().end = i + 1;
      }
    }
    std::ranges::stable_sort(final_gradients_, {}, &FinalGradient::end);
  }

  void make_room_for_sums() {
    int64_t channels = 0;
    for (const Node& node : graph_.nodes) {
      if (std::holds_alternative<BatchNorm>(node.op))
        channels = std::max(channels, graph_.shape(node.inputs[0])[1]);
    }
    numbers_.resize(2 * static_cast<size_t>(channels));
  }

  void run(size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      reference::run_node(graph_.nodes[i], values_, {options_.seed, pass_},
                          {options_.batch_norm_sums, numbers_});
    }
  }

  size_t state_index(ValueId parameter) const {
    const auto found = std::ranges::find(graph_.gradients, parameter, &ParameterGradient::parameter);
    return static_cast<size_t>(found - graph_.gradients.begin());
  }

  Tensor& at(ValueId id) { return values_[static_cast<size_t>(id)]; }

  Graph graph_;
  CompileOptions options_;
  std::vector<Tensor> values_, optimizer_state_;
  std::vector<FinalGradient> final_gradients_;
  std::vector<double> numbers_;  // that devices add up
  uint64_t pass_ = 0;
  int64_t step_ = 0;
};

class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const override { return "reference"; }
  bool is_fast() const override { return false; }
  std::string version() const override { return "1"; }
  int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const override {
    return estimate_separate_plan_bytes(graph, options.update);
  }

  std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                const CompileOptions& options) const override {
    require_memory(estimate_memory_bytes(graph, options));
    return std::make_unique<ReferencePlan>(graph, weights, options);
  }
};

}  // namespace

const Engine& reference_engine() {
  static const ReferenceEngine engine;
  return engine;
}

}  // namespace tacho
