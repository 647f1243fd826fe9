#include "engine/null/null_engine.h"

#include "engine/idle_plan.h"

namespace tacho {
namespace {

class NullPlan final : public IdlePlan {
 public:
  explicit NullPlan(const Graph& graph) : values_(graph.values), trains_(graph.training) {}

  Tensor read(ValueId value) const override {
    const Value& of = values_[static_cast<size_t>(value)];
    return Tensor(of.shape, of.dtype);
  }
  Tensor read_state(ValueId parameter, int) const override { return read(parameter); }
  bool trains() const override { return trains_; }

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
