#include "base/gpu.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

namespace tacho {

// Of nvml.h, which is not everywhere that a driver is. No nameless namespace: a pointer to a function of its
// types makes g++ 14 fail where a unity build includes this file.
namespace nvml {
using Device = void*;
struct Memory {
  unsigned long long total, free, used;
};
struct PciInfo {
  char old_bus_id[16];
  unsigned int domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
}  // namespace nvml

namespace {

constexpr int kSuccess = 0;
constexpr int kProcessorClock = 1;
constexpr unsigned int kTextBytes = 96;

template<typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

// What `ask` writes, where it succeeds.
template<typename Number, typename Ask>
std::optional<Number> told(Ask&& ask) {
  Number number = {};
  return ask(&number) == kSuccess ? std::optional(number) : std::nullopt;
}

template<typename Ask>
std::string text_of(Ask&& ask) {
  std::array<char, kTextBytes> text = {};
  return ask(text.data()) == kSuccess ? text.data() : "";
}

}  // namespace

struct GpuDriver::Library {
  int (*start)() = nullptr;
  int (*stop)() = nullptr;
  int (*count)(unsigned int*) = nullptr;
  int (*by_number)(unsigned int, nvml::Device*) = nullptr;
  int (*by_bus)(const char*, nvml::Device*) = nullptr;
  int (*name)(nvml::Device, char*, unsigned int) = nullptr;
  int (*driver)(char*, unsigned int) = nullptr;
  int (*memory)(nvml::Device, nvml::Memory*) = nullptr;
  int (*clock)(nvml::Device, int, unsigned int*) = nullptr;
  int (*power_limit)(nvml::Device, unsigned int*) = nullptr;  // in mW
  int (*place)(nvml::Device, nvml::PciInfo*) = nullptr;
  int (*clock_now)(nvml::Device, int, unsigned int*) = nullptr;
  int (*power)(nvml::Device, unsigned int*) = nullptr;         // in mW
  int (*energy)(nvml::Device, unsigned long long*) = nullptr;  // in mJ

  bool load(const std::string& file) {
    void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return false;
    find(library, "nvmlDeviceGetTotalEnergyConsumption", energy);  // not of old drivers
    return find(library, "nvmlInit_v2", start) && find(library, "nvmlShutdown", stop) &&
           find(library, "nvmlDeviceGetCount_v2", count) &&
           find(library, "nvmlDeviceGetHandleByIndex_v2", by_number) &&
           find(library, "nvmlDeviceGetHandleByPciBusId_v2", by_bus) &&
           find(library, "nvmlDeviceGetName", name) && find(library, "nvmlSystemGetDriverVersion", driver) &&
           find(library, "nvmlDeviceGetMemoryInfo", memory) &&
           find(library, "nvmlDeviceGetMaxClockInfo", clock) &&
           find(library, "nvmlDeviceGetPciInfo_v3", place) &&
           find(library, "nvmlDeviceGetClockInfo", clock_now) &&
           find(library, "nvmlDeviceGetPowerUsage", power) &&
           find(library, "nvmlDeviceGetPowerManagementLimit", power_limit) && start() == kSuccess;
  }

  GpuInfo describe(nvml::Device device) const {
    GpuInfo info;
    info.name = text_of([&](char* text) { return name(device, text, kTextBytes); });
    info.driver = text_of([&](char* text) { return driver(text, kTextBytes); });
    if (const auto found = told<nvml::Memory>([&](nvml::Memory* to) { return memory(device, to); }))
      info.memory_mib = static_cast<int64_t>(found->total >> 20);
    if (const auto found = told<nvml::PciInfo>([&](nvml::PciInfo* to) { return place(device, to); }))
      info.bus_id = fmt::format("{:04x}:{:02x}:{:02x}.0", found->domain, found->bus, found->device);
    const auto mhz = [&](auto ask) {
      return told<unsigned int>([&](unsigned int* to) { return ask(device, kProcessorClock, to); });
    };
    const auto watts = [&](auto ask) -> std::optional<double> {
      const auto milliwatts = told<unsigned int>([&](unsigned int* to) { return ask(device, to); });
      return milliwatts ? std::optional(*milliwatts / 1e3) : std::nullopt;
    };
    info.clock_mhz = mhz(clock);
    info.clock_now_mhz = mhz(clock_now);
    info.power_limit_watts = watts(power_limit);
    info.power_watts = watts(power);
    return info;
  }
};

GpuDriver::GpuDriver(const std::string& library) {
  auto loaded = std::make_unique<Library>();
  if (!loaded->load(library)) return;
  library_ = std::shared_ptr<const Library>(loaded.release(), [](const Library* started) {
    started->stop();
    delete started;
  });
}

std::vector<GpuInfo> GpuDriver::gpus() const {
  std::vector<GpuInfo> all;
  if (library_ == nullptr) return all;
  const unsigned int count = told<unsigned int>(library_->count).value_or(0);
  for (unsigned int i = 0; i < count; ++i) {
    const auto device = told<nvml::Device>([&](nvml::Device* to) { return library_->by_number(i, to); });
    if (device) all.push_back(library_->describe(*device));
  }
  return all;
}

std::optional<double> GpuDriver::joules(const std::string& bus_id) const {
  if (library_ == nullptr || library_->energy == nullptr) return std::nullopt;
  const auto device =
      told<nvml::Device>([&](nvml::Device* to) { return library_->by_bus(bus_id.c_str(), to); });
  if (!device) return std::nullopt;
  const auto millijoules =
      told<unsigned long long>([&](unsigned long long* to) { return library_->energy(*device, to); });
  return millijoules ? std::optional(static_cast<double>(*millijoules) / 1e3) : std::nullopt;
}

}  // namespace tacho
