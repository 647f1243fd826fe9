#include "engine/torch/module/device.h"

#include <torch/cuda.h>

namespace tacho::torch_engine {

std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
  const size_t count = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
  for (size_t i = 0; i < count; ++i) names.push_back("cuda:" + std::to_string(i));
  return names;
}

void finish_work_on(const at::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

}  // namespace tacho::torch_engine
