#include "engine/null/null_engine.h"

namespace tacho {
namespace {

class NullPlan final : public Plan {
 public:
  explicit NullPlan(const Graph& graph) : values_(graph.values), trains_(graph.training) {}

  void write(ValueId, const Tensor&) override {}
  Tensor read(ValueId value) const override {
    const Value& of = values_[static_cast<size_t>(value)];
    return Tensor(of.shape, of.dtype);
  }

  void read_into(ValueId, Tensor&) const override {}

  void forward() override {}
  void backward(GradientSink*) override {}
  void update(std::optional<double>) override {}

  bool trains() const override { return trains_; }
  std::vector<std::span<float>> gradients() override { return {}; }

  Tensor read_state(ValueId parameter, int) const override { return read(parameter); }
  void write_state(ValueId, int, const Tensor&) override {}
  PlanCounters counters() const override { return {}; }
  void set_counters(const PlanCounters&) override {}

  int64_t memory_bytes() const override { return 0; }

 private:
  std::vector<Value> values_;
  bool trains_;
};

class NullEngine final : public Engine {
 public:
  std::string_view name() const override { return "null"; }
  std::string version() const override { return "1"; }
  bool computes() const override { return false; }
  int64_t estimate_memory_bytes(const Graph&, const CompileOptions&) const override { return 0; }

  std::unique_ptr<Plan> compile(const Graph& graph, Weights, const CompileOptions&) const override {
    return std::make_unique<NullPlan>(graph);
  }
};

}  // namespace

const Engine& null_engine() {
  static const NullEngine engine;
  return engine;
}

}  // namespace tacho
