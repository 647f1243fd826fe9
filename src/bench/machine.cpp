#include "bench/machine.h"

#include <fmt/format.h>

namespace tacho {
namespace {

constexpr double kWatch_ms = 200;
constexpr double kMuchBusyPercent = 10;
constexpr double kMuchStealPercent = 1;

}  // namespace

std::vector<std::string> noise_warnings(const CpuInfo& cpu, const LoadInfo& load) {
  std::vector<std::string> warnings;
  if (!cpu.governor.empty() && cpu.governor != "performance") {
    warnings.push_back(fmt::format("the CPU frequency governor is '{}', not 'performance'", cpu.governor));
  }
  if (cpu.smt) warnings.emplace_back("SMT is on: threads that share a core slow each other");
  if (load.busy_percent > kMuchBusyPercent) {
    warnings.push_back(fmt::format("other programs use {:.0f} % of the CPUs (load average {:.1f})",
                                   load.busy_percent, load.load_average_1min));
  }
  if (load.steal_percent > kMuchStealPercent) {
    warnings.push_back(fmt::format("the hypervisor takes {:.0f} % of the CPUs' time", load.steal_percent));
  }
  return warnings;
}

std::vector<std::string> noise_warnings() { return noise_warnings(cpu_info(), load_info(kWatch_ms)); }

}  // namespace tacho
