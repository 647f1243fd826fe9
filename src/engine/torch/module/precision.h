#pragma once

#include <ATen/ATen.h>

#include <optional>
#include <string>
#include <vector>

namespace tacho::torch_engine {

// In which numbers libtorch can compute on this device.
std::vector<std::string> precisions(const std::string& device);

// Whether its gradients are so small that losses must be scaled.
bool scales_losses(const std::string& precision);

// That of the inputs of products which are computed so.
at::ScalarType type_of_products(const std::string& precision);

// While it lives, libtorch computes in this precision: tf32 rounds the inputs of products on a GPU, and with
// bf16 and f16 autocast computes convolutions and products so, and leaves to single precision what needs it.
class PrecisionScope {
 public:
  PrecisionScope(const std::string& precision, const at::Device& device);
  ~PrecisionScope();
  PrecisionScope(const PrecisionScope&) = delete;
  PrecisionScope& operator=(const PrecisionScope&) = delete;

 private:
  at::DeviceType device_;
  std::optional<at::ScalarType> cast_;
};

}  // namespace tacho::torch_engine
