#pragma once

#include "engine/engine.h"

namespace tacho::torch_engine {

// As Engine::join_devices(), of GPUs; nothing where libtorch has no NCCL.
std::unique_ptr<DeviceExchange> join_gpus(const std::string& device, int rank, int size,
                                          const FromFirst& from_first);

// NCCL's version; empty without it.
std::string nccl_version();

}  // namespace tacho::torch_engine
