#include "base/cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// For systems of which hwloc knows no more than the number of CPUs.
std::string model_in_cpuinfo(const fs::path& root) {
  for (const std::string& line : split(read_file_if_present(root / "proc/cpuinfo"), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || trim(line.substr(0, colon)) != "model name") continue;
    return std::string(trim(std::string_view(line).substr(colon + 1)));
  }
  return "unknown";
}

// hwloc does not tell it.
std::string governor_of(const fs::path& root, int cpu) {
  const fs::path folder = root / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu);
  return std::string(trim(read_file_if_present(folder / "cpufreq/scaling_governor")));
}

InstructionSet widest_of_cpu() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
  if (avx2 && avx512) return InstructionSet::avx512;
  if (avx2) return InstructionSet::avx2;
#endif
  return InstructionSet::sse2;
}

}  // namespace

InstructionSet allowed_instruction_set() {
  const char* limit = std::getenv("TACHO_INSTRUCTION_SET");
  const std::string_view name = limit == nullptr ? "" : limit;
  if (name.empty() || name == "avx512") return InstructionSet::avx512;
  if (name == "avx2") return InstructionSet::avx2;
  if (name == "sse2") return InstructionSet::sse2;
  throw UserError("TACHO_INSTRUCTION_SET '{}' is unknown: sse2, avx2 or avx512", name);
}

bool has_bf16_products() {
#if defined(__x86_64__)
  return widest_instruction_set() == InstructionSet::avx512 && __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

InstructionSet widest_instruction_set() {
  static const InstructionSet widest = std::min(widest_of_cpu(), allowed_instruction_set());
  return widest;
}

std::string to_string(InstructionSet set) {
  switch (set) {
    case InstructionSet::sse2: return "SSE2";
    case InstructionSet::avx2: return "AVX2";
    case InstructionSet::avx512: return "AVX-512";
  }
  return "?";
}

CpuInfo cpu_info(const Topology& topology, const fs::path& root) {
  const std::string model(trim(topology.cpu_model()));
  const std::vector<int> cpus = topology.online_cpus();
  const auto logical_cpus = static_cast<int>(cpus.size());
  const int physical_cores = count_cores(cpus, topology);
  const auto [l1d_bytes, l2_bytes, l3_bytes] = topology.cache_bytes();
  return {
      .model = model.empty() ? model_in_cpuinfo(root) : model,
      .logical_cpus = logical_cpus,
      .physical_cores = physical_cores,
      .sockets = topology.sockets(),
      .numa_nodes = topology.numa_nodes(),
      .smt = logical_cpus > physical_cores,
      .l1d_bytes = l1d_bytes,
      .l2_bytes = l2_bytes,
      .l3_bytes = l3_bytes,
      .l3_total_bytes = topology.l3_total_bytes(),
      .governor = governor_of(root, cpus.front()),
  };
}

std::vector<int> one_per_core_first(std::span<const int> cpus, const Topology& topology) {
  std::map<int, int> seen;
  std::vector<std::pair<int, int>> ranked;
  for (const int cpu : cpus) ranked.emplace_back(seen[topology.first_thread_of_core(cpu)]++, cpu);
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int>::first);
  std::vector<int> ordered;
  for (const auto& [rank, cpu] : ranked) ordered.push_back(cpu);
  return ordered;
}

int count_cores(std::span<const int> cpus, const Topology& topology) {
  std::set<int> cores;
  for (const int cpu : cpus) cores.insert(topology.first_thread_of_core(cpu));
  return static_cast<int>(cores.size());
}

}  // namespace tacho
