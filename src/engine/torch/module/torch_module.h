#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace tacho {

// What only libtorch can do: a library of its own, loaded on first use. It calls functions of the program
// that loads it, so both are of one build.
struct TorchModule {
  std::vector<std::string> (*devices)();
  std::vector<std::string> (*precisions)(const std::string& device);
  std::string (*bus_id)(const std::string& device);
  std::vector<std::string> (*layouts)();
  std::map<std::string, std::string> (*gpu_libraries)();
  std::string (*instruction_set)();
  int (*threads_of)(int allowed);
  // As Engine's functions.
  std::optional<double> (*measure_product_gflops)(const std::string& device, const std::string& precision,
                                                  int64_t rows);
  std::unique_ptr<DeviceExchange> (*join_gpus)(const std::string& device, int rank, int size,
                                               const FromFirst& from_first);
  // As Engine::compile().
  std::unique_ptr<Plan> (*compile)(const Graph& graph, Weights weights, const CompileOptions& options);
  // For tests, on the CPU: losses are scaled as in half precision, and what goes to the host is staged as a
  // GPU's.
  std::unique_ptr<Plan> (*compile_like_gpu)(const Graph& graph, Weights weights,
                                            const CompileOptions& options);
};

inline constexpr const char* kTorchModuleFile = "libtacho_torch.so";
inline constexpr const char* kTorchModuleEntry = "tacho_torch_module";
using TorchModuleEntry = const TorchModule& (*)();

}  // namespace tacho
