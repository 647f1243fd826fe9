#pragma once

#include <array>

#include "base/buffer.h"
#include "engine/engine.h"
#include "engine/native/assembler.h"

namespace tacho::native {

// Steps with memory behind them: one arena for activations, one each for packed weights, parameters,
// gradients and the optimizer's state.
class NativePlan : public Plan {
 public:
  // Packs the assembly's constants out of `weights`, which loses them one by one; throws OutOfMemory before
  // it allocates what does not fit.
  NativePlan(const Graph& graph, Assembly assembly, const CompileOptions& options, Weights& weights);

  void write(ValueId value, const Tensor& tensor) override;
  Tensor read(ValueId value) const override;
  void read_into(ValueId value, Tensor& tensor) const override;
  void forward() override;
  using Plan::backward;
  void backward(GradientSink* sink) override;
  void update(std::optional<double> learning_rate) override;
  double step(std::optional<double> learning_rate) override;
  bool trains() const override { return trains_; }
  std::vector<std::span<float>> gradients() override;
  Tensor read_state(ValueId parameter, int which) const override;
  void write_state(ValueId parameter, int which, const Tensor& tensor) override;
  PlanCounters counters() const override { return {assembly_.state->pass, updates_}; }
  void set_counters(const PlanCounters& counters) override;
  int64_t memory_bytes() const override;
  StepList steps() const override;
  void record_times(std::span<StepTime> times) override;

  // What a pass reads or writes once whatever the batch: packed weights, parameters and their gradients.
  std::array<std::span<const std::byte>, 3> weight_memory() const;

 private:
  // Gradients that no step from `end_step` on touches, nor from `update_step` on their parameters.
  struct FinalGradients {
    size_t end_step = 0, update_step = 0;
    std::span<float> values;
    size_t parameters_begin = 0;  // float of their arena, which that of their state is too
  };

  void find_final_gradients();
  UpdateRule rule_at(std::optional<double> learning_rate) const;
  void apply(const UpdateRule& rule, const FinalGradients& final);
  void run_steps(size_t begin, size_t end);
  void run_in_chunks(const ChunkedSteps& steps);
  StepTime run_timed(size_t step);
  const View& find(ValueId value) const;
  std::byte* address(const View& view) const { return addresses_[static_cast<size_t>(view.slot)]; }
  // The optimizer's arrays are laid out like the parameters.
  std::byte* state_address(const View& parameter, int which) const;
  void pack(const View& view, const Tensor& tensor);
  void fill_constants(Weights& weights);

  std::vector<Value> values_;
  Assembly assembly_;
  UpdateRule update_;
  mutable dnnl::stream stream_;
  Buffer arena_, weights_, parameters_, gradients_, state_;
  std::vector<std::byte*> addresses_;  // by slot
  std::map<ValueId, ValueId> parameter_of_gradient_;
  std::vector<FinalGradients> final_gradients_;      // in the order of their steps
  std::vector<FinalGradients> gradients_to_update_;  // the same, in the order of the updates
  bool trains_, keeps_gradients_;
  int64_t updates_ = 0;
  std::span<StepTime> times_;
};

}  // namespace tacho::native
