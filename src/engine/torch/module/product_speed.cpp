#include "engine/torch/module/product_speed.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "engine/torch/module/device.h"
#include "engine/torch/module/precision.h"
#include "engine/torch/module/translated.h"

namespace tacho::torch_engine {
namespace {

constexpr int kWarmups = 3, kTimed = 10;

double best_ms(const at::Device& device, const std::string& precision, int64_t rows) {
  const c10::InferenceMode inference;
  const PrecisionScope scope(precision, device);
  const auto matrix = [&] {
    return at::randn({rows, rows}, at::TensorOptions(device)).to(type_of_products(precision));
  };
  const at::Tensor a = matrix(), b = matrix();
  at::Tensor product = at::empty_like(a);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kWarmups + kTimed; ++i) {
    finish_work_on(device);
    const double begin = now_ms();
    at::mm_out(product, a, b);
    finish_work_on(device);
    if (i >= kWarmups) best = std::min(best, now_ms() - begin);
  }
  return best;
}

}  // namespace

std::optional<double> measure_product_gflops(const std::string& device, const std::string& precision,
                                             int64_t rows) {
  try {
    const double flop = 2.0 * static_cast<double>(rows * rows) * static_cast<double>(rows);
    return flop / (translated([&] { return best_ms(at::Device(device), precision, rows); }) * 1e6);
  } catch (const OutOfMemory&) {
    return std::nullopt;
  }
}

}  // namespace tacho::torch_engine
