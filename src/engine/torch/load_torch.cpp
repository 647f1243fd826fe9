#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "engine/memory_estimate.h"
#include "engine/saturating.h"
#include "engine/torch/module/torch_module.h"
#include "engine/torch/torch_engine.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Beside the program, as it is built, or where it is installed; empty where it was left out.
fs::path find_module() {
  std::error_code none;
  const fs::path folder = fs::read_symlink("/proc/self/exe", none).parent_path();
  for (const fs::path& file :
       {folder / kTorchModuleFile, folder.parent_path() / "lib/tacho" / kTorchModuleFile}) {
    if (fs::exists(file, none)) return file;
  }
  return {};
}

const TorchModule& load() {
  const fs::path file = find_module();
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const entry = library == nullptr ? nullptr : dlsym(library, kTorchModuleEntry);
  if (entry == nullptr) throw UserError("engine torch: cannot be loaded: {}", dlerror());
  return reinterpret_cast<TorchModuleEntry>(entry)();
}

const TorchModule& module() {
  static const TorchModule& loaded = load();
  return loaded;
}

int64_t input_and_weight_bytes(const Graph& graph) {
  int64_t bytes = 0;
  for (const auto& ids : {graph.inputs, graph.weights()}) {
    for (const ValueId id : ids)
      bytes = saturating_add(bytes, saturating_bytes(graph.shape(id), graph.value(id).dtype));
  }
  return bytes;
}

class TorchEngine final : public Engine {
 public:
  std::string_view name() const override { return kTorch; }
  std::string version() const override { return "libtorch " TACHO_TORCH_VERSION; }
  std::vector<std::string> devices() const override { return module().devices(); }
  std::vector<std::string> precisions(const std::string& device) const override {
    return module().precisions(device);
  }
  std::string instruction_set() const override { return module().instruction_set(); }
  int threads_of(int allowed) const override {
    use_threads(allowed);
    return module().threads_of(allowed);
  }
  bool autotunes(const std::string& device) const override { return device != kCpu; }  // cuDNN's alone
  std::map<std::string, std::string> gpu_libraries() const override { return module().gpu_libraries(); }
  std::string bus_id(const std::string& device) const override { return module().bus_id(device); }
  std::vector<std::string> kernels() const override { return module().layouts(); }
  std::optional<double> measure_product_gflops(const std::string& device, const std::string& precision,
                                               int64_t rows) const override {
    return module().measure_product_gflops(device, precision, rows);
  }
  std::unique_ptr<DeviceExchange> join_devices(const std::string& device, int rank, int size,
                                               const FromFirst& from_first) const override {
    return device == kCpu ? nullptr : module().join_gpus(device, rank, size, from_first);
  }

  // It frees what no later node and no backward pass needs, like a plan with one arena. Of a GPU's memory
  // only what the host holds too is the machine's.
  int64_t estimate_memory_bytes(const Graph& graph, const CompileOptions& options) const override {
    return options.device == kCpu ? estimate_arena_plan_bytes(graph, options.update)
                                  : input_and_weight_bytes(graph);
  }

  // libtorch computes in this thread's team of OpenMP, which is bound to its cores here.
  std::unique_ptr<Plan> compile(const Graph& graph, Weights weights,
                                const CompileOptions& options) const override {
    require_memory(estimate_memory_bytes(graph, options));
    use_threads(options.threads);
    return module().compile(graph, std::move(weights), options);
  }
};

}  // namespace

const Engine* torch_engine() {
  static const TorchEngine engine;
  static const bool is_there = !find_module().empty();
  return is_there ? &engine : nullptr;
}

}  // namespace tacho
