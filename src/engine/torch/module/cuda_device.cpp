// Of a libtorch with CUDA.
#include <ATen/cuda/CUDAContext.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "engine/torch/module/device.h"
#include "engine/torch/module/nccl.h"

namespace tacho::torch_engine {

namespace allocator = c10::cuda::CUDACachingAllocator;

std::string bus_id(const std::string& device) {
  const at::Device named(device);
  if (!named.is_cuda()) return {};
  const cudaDeviceProp* const properties = at::cuda::getDeviceProperties(named.index());
  return fmt::format("{:04x}:{:02x}:{:02x}.0", properties->pciDomainID, properties->pciBusID,
                     properties->pciDeviceID);
}

bool has_short_products(const std::string& device) {
  constexpr int kAmpere = 8;  // the first generation that has them
  return at::cuda::getDeviceProperties(at::Device(device).index())->major >= kAmpere;
}

void make_current(const at::Device& device) {
  if (device.is_cuda()) c10::cuda::set_device(device.index());
}

std::map<std::string, std::string> gpu_libraries() {
  std::map<std::string, std::string> versions = {
      {"CUDA", fmt::format("{}.{}", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)}};
  if (const std::string nccl = nccl_version(); !nccl.empty()) versions.emplace("NCCL", nccl);
  const auto& hooks = at::detail::getCUDAHooks();
  if (!hooks.compiledWithCuDNN()) return versions;
  const long cudnn = hooks.versionCuDNN(), major = cudnn >= 90000 ? 10000 : 1000;
  versions.emplace("cuDNN", fmt::format("{}.{}.{}", cudnn / major, cudnn % major / 100, cudnn % 100));
  return versions;
}

std::optional<int64_t> peak_device_bytes(const at::Device& device) {
  if (!device.is_cuda()) return std::nullopt;
  constexpr size_t kAll = 0;  // pools together
  return allocator::getDeviceStats(device.index()).allocated_bytes[kAll].peak;
}

void forget_peak_of(const at::Device& device) {
  if (device.is_cuda()) allocator::resetPeakStats(device.index());
}

void finish_work_on(const at::Device& device) {
  if (device.is_cuda()) c10::cuda::getCurrentCUDAStream(device.index()).synchronize();
}

}  // namespace tacho::torch_engine
