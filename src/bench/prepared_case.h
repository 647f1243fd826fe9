#pragma once

#include <memory>

#include "bench/case.h"
#include "bench/measurement.h"
#include "bench/workload.h"
#include "engine/engine.h"

namespace tacho {

// When each part of a pass ended. Inference ends with its forward part.
struct PassTimes {
  double begin_ms = 0, forward_end_ms = 0, backward_end_ms = 0, end_ms = 0;
};

// A case whose plan is made and has its input: passes can be run in any order with those of others.
class PreparedCase {
 public:
  // Throws OutOfMemory where it will not fit. `cell` must outlive this.
  explicit PreparedCase(const Case& cell);

  PassTimes run_pass();

  // A network that computes infinities or NaN runs at another speed, and nothing it says is right: throws.
  void require_finite() const;

  Plan& plan() { return *plan_; }
  const Workload& workload() const { return workload_; }
  // What is known without running it; no samples, but memory reserved for them.
  Measurement measurement() const;

 private:
  const Case& cell_;
  Workload workload_;
  std::unique_ptr<Plan> plan_;
  double compile_ms_ = 0;
};

void add_sample(const Case& cell, const PassTimes& times, Measurement& measurement);

}  // namespace tacho
