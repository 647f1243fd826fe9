// Of a libtorch without NCCL: GPUs exchange gradients through the host's memory.
#include "engine/torch/module/nccl.h"

namespace tacho::torch_engine {

std::unique_ptr<DeviceExchange> join_gpus(const std::string&, int, int, const FromFirst&) { return nullptr; }

std::string nccl_version() { return {}; }

}  // namespace tacho::torch_engine
