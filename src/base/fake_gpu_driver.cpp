// Two GPUs as NVIDIA's management library would describe them, for tests on machines without any. The second
// is old: it counts no energy and has no power limit.
#include <cstring>

namespace {
constexpr int kSuccess = 0, kNotSupported = 3, kNotFound = 6;
struct Gpu {
  const char* name;
  const char* bus;
  unsigned long long memory, millijoules;
};
Gpu gpus[] = {{"Fast 1", "0000:65:00.0", 16ULL << 30, 0}, {"Old 2", "0000:b3:00.0", 8ULL << 30, 0}};
struct PciInfo {
  char old_bus_id[16];
  unsigned int domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
struct Memory {
  unsigned long long total, free, used;
};
}  // namespace

extern "C" {
int nvmlInit_v2() { return kSuccess; }
int nvmlShutdown() { return kSuccess; }
int nvmlDeviceGetCount_v2(unsigned int* count) { return *count = 2, kSuccess; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int i, Gpu** gpu) { return *gpu = &gpus[i], kSuccess; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, Gpu** gpu) {
  for (Gpu& each : gpus) {
    if (std::strcmp(each.bus, bus) == 0) return *gpu = &each, kSuccess;
  }
  return kNotFound;
}
int nvmlDeviceGetName(Gpu* gpu, char* text, unsigned int) { return std::strcpy(text, gpu->name), kSuccess; }
int nvmlSystemGetDriverVersion(char* text, unsigned int) { return std::strcpy(text, "550.1"), kSuccess; }
int nvmlDeviceGetMemoryInfo(Gpu* gpu, Memory* memory) { return memory->total = gpu->memory, kSuccess; }
int nvmlDeviceGetMaxClockInfo(Gpu*, int clock, unsigned int* mhz) {
  return *mhz = clock == 1 ? 1980 : 7000, kSuccess;
}
int nvmlDeviceGetClockInfo(Gpu*, int clock, unsigned int* mhz) {
  return *mhz = clock == 1 ? 1410 : 0, kSuccess;
}
int nvmlDeviceGetPowerUsage(Gpu* gpu, unsigned int* milliwatts) {
  return *milliwatts = 87500, gpu == gpus ? kSuccess : kNotSupported;
}
int nvmlDeviceGetPciInfo_v3(Gpu* gpu, PciInfo* info) {
  info->bus = gpu == gpus ? 0x65 : 0xb3;
  return kSuccess;
}
int nvmlDeviceGetPowerManagementLimit(Gpu* gpu, unsigned int* milliwatts) {
  return *milliwatts = 300000, gpu == gpus ? kSuccess : kNotSupported;
}
// 5 J more at each reading.
int nvmlDeviceGetTotalEnergyConsumption(Gpu* gpu, unsigned long long* millijoules) {
  return *millijoules = gpu->millijoules += 5000, gpu == gpus ? kSuccess : kNotSupported;
}
}
