#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "bench/case.h"
#include "bench/measurement.h"
#include "bench/workload.h"
#include "distributed/pass.h"
#include "distributed/scattered_pass.h"

namespace tacho {

// The weights that a case starts from: its file's, or random ones.
Weights first_weights(const Case& cell, const Graph& graph);

// A case whose plan is made and has its input, on one of its devices: passes can be run in any order with
// those of others.
class PreparedCase {
 public:
  // All `ranks`, which are those of `group`, at once, with equal weights; `cell`, `workload`, `ranks` and
  // `group` must outlive this; see CompileOptions for `kernel_cache`. Gradients can be read where they are
  // kept. Throws OutOfMemory where it will not fit.
  PreparedCase(const Case& cell, const Workload& workload, Weights weights,
               const std::filesystem::path& kernel_cache, bool keep_gradients, Communicator& ranks,
               Group& group);

  PassTimes run_pass();

  // A network that computes infinities or NaN runs at another speed, and nothing it says is right: throws.
  void require_finite() const;

  Plan& plan() { return *plan_; }
  const Workload& workload() const { return workload_; }
  Communicator& ranks() { return ranks_; }
  // What is known without running it.
  Measurement measurement() const;
  // When gradients become final, by a pass more; nothing where there are none.
  std::vector<ReadyGradients> ready_gradients();

 private:
  const Case& cell_;
  const Workload& workload_;
  Communicator& ranks_;
  Group& group_;
  std::unique_ptr<SumOverDevices> batch_norm_sums_;
  std::unique_ptr<Plan> plan_;
  std::optional<ScatteredBatch> scattered_;
  double compile_ms_ = 0;
};

}  // namespace tacho
