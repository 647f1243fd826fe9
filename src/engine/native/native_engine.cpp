#include "engine/native/native_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "base/cpu.h"
#include "engine/memory_estimate.h"
#include "engine/native/assembler.h"
#include "engine/native/emit_linear.h"
#include "engine/native/emit_winograd.h"
#include "engine/native/homes.h"
#include "engine/native/kernel_choice.h"
#include "engine/native/native_plan.h"
#include "engine/native/passes.h"
#include "engine/native/taps.h"
#include "engine/saturating.h"
#include "kernels/blocked/blocked.h"

namespace tacho {
namespace {

// What oneDNN may use. It has no SSE2 alone: SSE4.1 is its narrowest.
void limit_onednn() {
  switch (allowed_instruction_set()) {
    case InstructionSet::sse2: dnnl::set_max_cpu_isa(dnnl::cpu_isa::sse41); break;
    case InstructionSet::avx2: dnnl::set_max_cpu_isa(dnnl::cpu_isa::avx2); break;
    case InstructionSet::avx512: break;
  }
}

std::string onednn_instruction_set() {
  switch (dnnl::get_effective_cpu_isa()) {
    case dnnl::cpu_isa::sse41: return "SSE4.1";
    case dnnl::cpu_isa::avx: return "AVX";
    case dnnl::cpu_isa::avx2: return "AVX2";
    case dnnl::cpu_isa::avx2_vnni: return "AVX2 VNNI";
    case dnnl::cpu_isa::avx512_core: return "AVX512";
    case dnnl::cpu_isa::avx512_core_vnni: return "AVX512 VNNI";
    case dnnl::cpu_isa::avx512_core_bf16: return "AVX512 BF16";
    case dnnl::cpu_isa::avx512_core_amx: return "AVX512 AMX";
    default: return "more than " + to_string(widest_instruction_set());  // of a later oneDNN
  }
}

// Channels that lie side by side: those of our kernels, or as many as a vector holds for oneDNN's.
int64_t channel_block(const std::string& kernel) {
  const bool may_be_onednn = kernel.empty() || kernel == native::name_of(native::ConvolutionKernel::onednn);
  return may_be_onednn && widest_instruction_set() == InstructionSet::avx512 ? 16 : native::own_block();
}

// The concatenation that each of its parts is made in.
std::map<ValueId, ValueId> wholes_of(const native::Program& program) {
  std::map<ValueId, ValueId> wholes;
  for (const auto& [part, home] : native::homes_of(program).of) wholes[part] = home.whole;
  return wholes;
}

// What may be chosen, as far as it can be said without timing: what is forced, else Winograd where it can.
native::KernelChoice likely_kernels(const native::Program& program, const std::string& forced) {
  const auto wanted = native::find_kernel(forced).value_or(native::ConvolutionKernel::winograd);
  native::KernelChoice choice;
  for (const native::Instruction& instruction : program.instructions) {
    const auto candidates = native::candidates(program, instruction);
    const bool can = std::ranges::find(candidates, wanted) != candidates.end();
    choice.push_back(can ? wanted : native::ConvolutionKernel::onednn);
  }
  return choice;
}

// Of activations that stay in the last caches while others pass by: half of what these threads' cores have.
int64_t cached_bytes(int threads) {
  const CpuInfo& cpu = cpu_info();
  return cpu.l3_total_bytes * std::min(threads, cpu.physical_cores) / std::max(cpu.physical_cores, 1) / 2;
}

class NativeEngine : public Engine {
 public:
  NativeEngine() { limit_onednn(); }

  std::string_view name() const override { return "native"; }

  bool computes_side_by_side() const override { return true; }

  bool tells_steps() const override { return true; }

  std::string instruction_set() const override { return onednn_instruction_set(); }
  int threads_of(int allowed) const override { return team_size(allowed); }

  std::string version() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }

  int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const override {
    native::Program program = optimized(graph, options);
    native::KernelChoice kernels = likely_kernels(program, options.kernel);
    native::split_post_ops(program, kernels);
    const Graph rewritten = native::raise(program);
    const bool may_pack = options.kernel.empty() || options.kernel == "winograd";
    const auto scratch_bytes = [&](const Node& node) {
      return may_pack ? native::winograd_scratch_bytes(rewritten, node, options) : 0;
    };
    const auto linear_gradient_bytes = [&](const Node& node) {
      return native::linear_gradient_bytes(rewritten, node);
    };
    const int64_t bytes = estimate_arena_plan_bytes(rewritten, options.update,
                                                    {.channel_block = channel_block(options.kernel),
                                                     .scratch_bytes = scratch_bytes,
                                                     .wholes = wholes_of(program),
                                                     .keep_gradients = options.keep_gradients,
                                                     .linear_gradient_bytes = linear_gradient_bytes});
    return may_pack ? saturating_add(bytes, native::winograd_memory_bytes(graph, options.low_memory)) : bytes;
  }

  std::vector<std::string> kernels() const override {
    std::vector<std::string> names;
    for (const native::KernelRow& row : native::kernel_rows()) {
      const bool ours = row.kernel != native::ConvolutionKernel::onednn;
      if (!ours || blocked::supported()) names.emplace_back(row.name);
    }
    return names;
  }

  std::optional<std::string> why_no_low_memory() const override {
    if (blocked::supported()) return std::nullopt;
    return "needs AVX2 to compute with little memory";
  }

  void choose_kernels(const Graph& graph, const CompileOptions& options) const override {
    use_threads(options.threads);
    choose(planned(graph, options), options);
  }

  std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                const CompileOptions& options) const override {
    use_threads(options.threads);
    native::Program program = planned(graph, options);
    if (!program.training) native::cut_to_used_taps(program, weights);
    native::KernelChoice kernels = choose(program, options);
    native::split_post_ops(program, kernels);
    native::Assembler assembler(program, weights, options, std::move(kernels));
    return std::make_unique<native::NativePlan>(graph, assembler.assemble(), options, weights);
  }

 private:
  using Files = std::pair<std::filesystem::path, std::filesystem::path>;  // the cache's and the record's

  static native::Program optimized(const Graph& graph, const CompileOptions& options) {
    native::Program program = native::lower(graph);
    program.low_memory = options.low_memory;
    program.keep_gradients = options.keep_gradients;
    for (const native::Pass& pass : native::passes()) pass.run(program);
    return program;
  }

  // What is estimated is the program before this: chunks take less memory.
  static native::Program planned(const Graph& graph, const CompileOptions& options) {
    native::Program program = optimized(graph, options);
    native::take_batch_in_chunks(program, options.cached_bytes.value_or(cached_bytes(options.threads)),
                                 options.threads);
    return program;
  }

  native::KernelChoice choose(const native::Program& program, const CompileOptions& options) const {
    const std::lock_guard lock(mutex_);
    const Files files(options.kernel_cache, options.kernel_record);
    auto& cache = caches_.try_emplace(files, files.first, files.second).first->second;
    return native::choose_kernels(program, options, cache);
  }

  mutable std::mutex mutex_;
  mutable std::map<Files, native::KernelCache> caches_;
};

}  // namespace

const Engine& native_engine() {
  static const NativeEngine engine;
  return engine;
}

}  // namespace tacho
