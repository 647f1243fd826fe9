#pragma once

#include "engine/engine.h"

namespace tacho {

// A plan that computes nothing: the null engine's, and a base for plans of tests.
class IdlePlan : public Plan {
 public:
  void write(ValueId, const Tensor&) override {}
  Tensor read(ValueId) const override { return {}; }
  void read_into(ValueId, Tensor&) const override {}
  void forward() override {}
  void backward(GradientSink*) override {}
  void update(std::optional<double>) override {}
  bool trains() const override { return false; }
  std::vector<std::span<float>> gradients() override { return {}; }
  Tensor read_state(ValueId, int) const override { return {}; }
  void write_state(ValueId, int, const Tensor&) override {}
  PlanCounters counters() const override { return {}; }
  void set_counters(const PlanCounters&) override {}
  int64_t memory_bytes() const override { return 0; }
};

}  // namespace tacho
