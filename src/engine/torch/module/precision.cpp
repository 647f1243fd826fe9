#include "engine/torch/module/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "engine/engine.h"

namespace tacho::torch_engine {
namespace {

constexpr const char *kTensorFloat = "tf32", *kBrainFloat = "bf16";

void autocast(at::DeviceType device, bool enabled) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, at::kBFloat16);
#else
  if (device == at::kCUDA) {
    at::autocast::set_enabled(enabled);
    at::autocast::set_autocast_gpu_dtype(at::kBFloat16);
  } else {
    at::autocast::set_cpu_enabled(enabled);
    at::autocast::set_autocast_cpu_dtype(at::kBFloat16);
  }
#endif
  at::autocast::set_autocast_cache_enabled(false);  // each weight is needed once in a pass
}

}  // namespace

std::vector<std::string> precisions(const std::string& device) {
  if (device == kCpu) return {std::string(kSinglePrecision), kBrainFloat};
  return {std::string(kSinglePrecision), kTensorFloat, kBrainFloat};
}

PrecisionScope::PrecisionScope(const std::string& precision, const at::Device& device)
    : device_(device.type()), autocasts_(precision == kBrainFloat) {
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuDNN(precision == kTensorFloat);
    at::globalContext().setAllowTF32CuBLAS(precision == kTensorFloat);
  }
  if (autocasts_) autocast(device_, true);
}

PrecisionScope::~PrecisionScope() {
  if (autocasts_) autocast(device_, false);
}

}  // namespace tacho::torch_engine
