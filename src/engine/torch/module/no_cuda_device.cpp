// Of a libtorch that has no GPUs.
#include "engine/torch/module/device.h"

namespace tacho::torch_engine {

std::string bus_id(const std::string&) { return {}; }
bool has_short_products(const std::string&) { return false; }
void make_current(const at::Device&) {}
std::map<std::string, std::string> gpu_libraries() { return {}; }
std::optional<int64_t> peak_device_bytes(const at::Device&) { return std::nullopt; }
void forget_peak_of(const at::Device&) {}
void finish_work_on(const at::Device&) {}

}  // namespace tacho::torch_engine
