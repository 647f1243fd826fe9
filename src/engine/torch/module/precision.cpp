#include "engine/torch/module/precision.h"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <torch/version.h>

#include "engine/engine.h"
#include "engine/torch/module/device.h"

namespace tacho::torch_engine {
namespace {

constexpr const char *kTensorFloat = "tf32", *kBrainFloat = "bf16", *kHalf = "f16";

void autocast(at::DeviceType device, bool enabled, at::ScalarType type) {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
  at::autocast::set_autocast_enabled(device, enabled);
  at::autocast::set_autocast_dtype(device, type);
#else
  if (device == at::kCUDA) {
    at::autocast::set_enabled(enabled);
    at::autocast::set_autocast_gpu_dtype(type);
  } else {
    at::autocast::set_cpu_enabled(enabled);
    at::autocast::set_autocast_cpu_dtype(type);
  }
#endif
  at::autocast::set_autocast_cache_enabled(false);  // each weight is needed once in a pass
}

// What autocast computes in, where the precision is its work.
std::optional<at::ScalarType> type_of(const std::string& precision) {
  if (precision == kBrainFloat) return at::kBFloat16;
  if (precision == kHalf) return at::kHalf;
  return std::nullopt;
}

}  // namespace

at::ScalarType type_of_products(const std::string& precision) {
  return type_of(precision).value_or(at::kFloat);
}

bool scales_losses(const std::string& precision) { return precision == kHalf; }

std::vector<std::string> precisions(const std::string& device) {
  if (device == kCpu) return {std::string(kSinglePrecision), kBrainFloat};
  if (!has_short_products(device)) return {std::string(kSinglePrecision), kHalf};
  return {std::string(kSinglePrecision), kTensorFloat, kBrainFloat, kHalf};
}

PrecisionScope::PrecisionScope(const std::string& precision, const at::Device& device)
    : device_(device.type()), cast_(type_of(precision)) {
  if (device.is_cuda()) {
    at::globalContext().setAllowTF32CuDNN(precision == kTensorFloat);
    at::globalContext().setAllowTF32CuBLAS(precision == kTensorFloat);
  }
  if (cast_) autocast(device_, true, *cast_);
}

PrecisionScope::~PrecisionScope() {
  if (cast_) autocast(device_, false, *cast_);
}

}  // namespace tacho::torch_engine
