#include "bench/prepared_case.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "base/clock.h"
#include "base/cpu.h"
#include "bench/synthetic.h"
#include "distributed/buckets.h"
#include "distributed/shared_state.h"
#include "engine/engines.h"
#include "graph/cost.h"
#include "models/initialize.h"
#include "tensors/model_weights.h"

namespace tacho {
namespace {

// Notes when a backward pass of the plan has computed enough gradients for a bucket, as if they lay side by
// side: those of one device alone need not.
class BucketClock final : public GradientSink {
 public:
  BucketClock(const Plan& plan, size_t bucket_bytes) : plan_(plan), bucket_bytes_(bucket_bytes) {}

  void take(std::span<float> gradients) override {
    waiting_bytes_ += gradients.size_bytes();
    const size_t enough = ready_.empty() ? std::min(bucket_bytes_, Buckets::kFirstBytes) : bucket_bytes_;
    if (waiting_bytes_ >= enough) note_waiting();
  }

  std::vector<ReadyGradients> finish(double begin_ms) {
    note_waiting();
    for (ReadyGradients& ready : ready_) ready.ready_ms -= begin_ms;
    return std::move(ready_);
  }

 private:
  void note_waiting() {
    while (waiting_bytes_ > 0) {
      plan_.wait_for_device();
      const size_t bytes = std::min(waiting_bytes_, bucket_bytes_);
      ready_.push_back({static_cast<int64_t>(bytes), now_ms()});
      waiting_bytes_ -= bytes;
    }
  }

  const Plan& plan_;
  size_t bucket_bytes_, waiting_bytes_ = 0;
  std::vector<ReadyGradients> ready_;
};

size_t bucket_bytes(const Case& cell) { return static_cast<size_t>(cell.execution.bucket_mib) << 20; }

}  // namespace

Weights first_weights(const Case& cell, const Graph& graph) {
  if (!cell.weights) return initialize(graph, cell.seed);
  return read_model_weights(*cell.weights, find_model(cell.model), graph).weights;
}

PreparedCase::PreparedCase(const Case& cell, const Workload& workload, Weights weights,
                           const std::filesystem::path& kernel_cache, bool keep_gradients,
                           Communicator& ranks, Group& group)
    : cell_(cell), workload_(workload), ranks_(ranks), group_(group) {
  use_threads(cell.execution.threads);
  const bool shares = ranks.size() > 1 && cell.mode == Mode::train;
  if (shares && cell.execution.sync_batch_norm) batch_norm_sums_ = sum_over(ranks);
  CompileOptions options = compile_options(cell.execution, cell.seed, workload_.update, kernel_cache);
  options.batch_norm_sums = batch_norm_sums_.get();
  options.keep_gradients |= keep_gradients;
  options.gradients_on_device = group.reaches_devices();
  const double begin = now_ms();
  plan_ = find_engine(cell.execution.engine).compile(workload_.graph, std::move(weights), options);
  compile_ms_ = now_ms() - begin;
  // Every device has images of its own.
  write_random_inputs(*plan_, workload_.graph, cell.seed + static_cast<uint64_t>(ranks.rank()));
  if (cell.execution.parallel == kScatter) {
    Tensor whole =
        ranks.rank() == 0 ? random_images(workload_.graph, images_per_pass(cell), cell.seed) : Tensor();
    scattered_.emplace(ranks, workload_.graph, std::move(whole),
                       share_out(images_per_pass(cell), ranks.size()));
  }
}

PassTimes PreparedCase::run_pass() {
  return scattered_ ? scattered_->run_pass(*plan_) : tacho::run_pass(*plan_, group_);
}

void PreparedCase::require_finite() const {
  const Graph& graph = workload_.graph;
  const Tensor tensor = plan_->read(graph.training ? graph.outputs[1] : graph.outputs[0]);
  if (!std::ranges::all_of(tensor.values<float>(), [](float v) { return std::isfinite(v); })) {
    throw std::runtime_error(graph.training ? "the loss is not finite" : "the output is not finite");
  }
}

Measurement PreparedCase::measurement() const {
  Measurement result = {.compile_ms = compile_ms_,
                        .exchange = std::string(group_.way()),
                        .plan_memory_bytes = plan_->memory_bytes(),
                        .steps_left_out = plan_->steps_left_out()};
  if (find_engine(cell_.execution.engine).computes()) {
    const Cost cost = cost_of(workload_.graph);
    const int64_t own = workload_.graph.shape(workload_.graph.inputs[0])[0], all = images_per_pass(cell_);
    result.flop = cost.flop / own * all;
    result.bytes = cost.bytes / own * all;
  }
  return result;
}

std::vector<ReadyGradients> PreparedCase::ready_gradients() {
  if (!plan_->trains()) return {};
  BucketClock clock(*plan_, bucket_bytes(cell_));
  plan_->forward();
  const double begin = now_ms();
  plan_->backward(&clock);
  return clock.finish(begin);
}

}  // namespace tacho
