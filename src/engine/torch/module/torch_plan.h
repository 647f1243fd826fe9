#pragma once

#include <memory>

#include "engine/engine.h"

namespace tacho::torch_engine {

// Throws OutOfMemory where libtorch finds no room.
std::unique_ptr<Plan> compile(const Graph& graph, Weights weights, const CompileOptions& options);
// See TorchModule.
std::unique_ptr<Plan> compile_like_gpu(const Graph& graph, Weights weights, const CompileOptions& options);

int threads_of(int allowed);

}  // namespace tacho::torch_engine
