#pragma once

#include <filesystem>
#include <memory>

#include "bench/case.h"
#include "bench/measurement.h"
#include "bench/workload.h"
#include "distributed/pass.h"

namespace tacho {

// A case whose plan is made and has its input: passes can be run in any order with those of others.
class PreparedCase {
 public:
  // Throws OutOfMemory where it will not fit. `cell` and `workload` must outlive this; see CompileOptions for
  // `kernel_cache`.
  PreparedCase(const Case& cell, const Workload& workload, const std::filesystem::path& kernel_cache);

  PassTimes run_pass() { return tacho::run_pass(*plan_, *group_); }

  // A network that computes infinities or NaN runs at another speed, and nothing it says is right: throws.
  void require_finite() const;

  Plan& plan() { return *plan_; }
  const Workload& workload() const { return workload_; }
  // What is known without running it; no samples, but memory reserved for them.
  Measurement measurement() const;

 private:
  const Case& cell_;
  const Workload& workload_;
  std::unique_ptr<Group> group_ = single_group();
  std::unique_ptr<Plan> plan_;
  double compile_ms_ = 0;
};

void add_sample(const PassTimes& times, const Case& cell, Measurement& measurement);

}  // namespace tacho
