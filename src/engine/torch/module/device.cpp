#include "engine/torch/module/device.h"

#include <ATen/Version.h>
#include <torch/cuda.h>

#include <string_view>

namespace tacho::torch_engine {

std::vector<std::string> devices() {
  std::vector<std::string> names = {"cpu"};
  const size_t count = torch::cuda::is_available() ? torch::cuda::device_count() : 0;
  for (size_t i = 0; i < count; ++i) names.push_back("cuda:" + std::to_string(i));
  return names;
}

// libtorch 1 has no function of its own for it.
std::string instruction_set() {
  constexpr std::string_view kLabel = "CPU capability usage: ";
  const std::string text = at::show_config();
  const size_t begin = text.find(kLabel);
  if (begin == std::string::npos) return {};
  const std::string name = text.substr(begin + kLabel.size());
  return name.substr(0, name.find('\n'));
}

}  // namespace tacho::torch_engine
