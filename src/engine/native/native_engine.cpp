#include "engine/native/native_engine.h"

#include <fmt/format.h>

#include "base/cpu.h"
#include "engine/memory_estimate.h"
#include "engine/native/assembler.h"
#include "engine/native/emit_winograd.h"
#include "engine/native/native_plan.h"
#include "engine/native/passes.h"
#include "engine/saturating.h"

namespace tacho {
namespace {

class NativeEngine : public Engine {
 public:
  std::string_view name() const override { return "native"; }

  std::string version() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }

  int64_t estimate_memory_bytes(const Graph& graph, const UpdateRule& rule) const override {
    return saturating_add(estimate_arena_plan_bytes(graph, rule), native::winograd_memory_bytes(graph));
  }

  std::unique_ptr<Plan> compile(const Graph& graph, const Weights& weights,
                                const CompileOptions& options) const override {
    use_threads(options.threads);
    native::Program program = native::lower(graph);
    for (const native::Pass& pass : native::passes()) pass.run(program);
    native::Assembler assembler(program, weights, options);
    return std::make_unique<native::NativePlan>(graph, assembler.assemble(), options);
  }
};

}  // namespace

const Engine& native_engine() {
  static const NativeEngine engine;
  return engine;
}

}  // namespace tacho
