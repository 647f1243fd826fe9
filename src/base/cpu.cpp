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

std::string read_line(const fs::path& path) { return std::string(trim(read_file_if_present(path))); }

fs::path folder_of_cpu(const fs::path& root, int cpu) {
  return root / "sys/devices/system/cpu" / fmt::format("cpu{}", cpu);
}

// The values of "name : value" lines of /proc/cpuinfo, one for each CPU that has the line.
std::vector<std::string> cpuinfo_values(const fs::path& root, std::string_view name) {
  std::vector<std::string> values;
  for (const std::string& line : split(read_file_if_present(root / "proc/cpuinfo"), '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || trim(line.substr(0, colon)) != name) continue;
    values.emplace_back(trim(std::string_view(line).substr(colon + 1)));
  }
  return values;
}

std::vector<int> online_cpus(const fs::path& root) {
  std::vector<int> cpus = parse_cpu_list(read_line(root / "sys/devices/system/cpu/online"));
  if (!cpus.empty()) return cpus;
  for (const std::string& number : cpuinfo_values(root, "processor")) {
    cpus.push_back(static_cast<int>(parse_integer(number).value_or(0)));
  }
  return cpus;
}

// A name for the core of a CPU: the hardware threads on it, or the CPU itself where the system does not say.
std::string core_of(const fs::path& root, int cpu) {
  const std::string siblings = read_line(folder_of_cpu(root, cpu) / "topology/thread_siblings_list");
  return siblings.empty() ? std::to_string(cpu) : siblings;
}

// "512K", "32M".
int64_t parse_cache_size(std::string_view text) {
  if (text.empty()) return 0;
  const int64_t unit = text.back() == 'K' ? 1 << 10 : text.back() == 'M' ? 1 << 20 : 1;
  if (unit > 1) text.remove_suffix(1);
  return parse_integer(text).value_or(0) * unit;
}

struct Cache {
  int64_t level, bytes;
  std::string shared_by;
};

std::vector<Cache> data_caches(const fs::path& root, int cpu) {
  std::vector<Cache> caches;
  for (int index = 0;; ++index) {
    const fs::path folder = folder_of_cpu(root, cpu) / "cache" / fmt::format("index{}", index);
    const auto level = parse_integer(read_line(folder / "level"));
    if (!level) return caches;
    if (read_line(folder / "type") == "Instruction") continue;
    caches.push_back(
        {*level, parse_cache_size(read_line(folder / "size")), read_line(folder / "shared_cpu_list")});
  }
}

void add_topology(CpuInfo& info, const fs::path& root, std::span<const int> cpus) {
  std::set<std::string> sockets;
  for (const int cpu : cpus) {
    sockets.insert(read_line(folder_of_cpu(root, cpu) / "topology/physical_package_id"));
  }
  info.physical_cores = count_cores(cpus, root);
  info.sockets = static_cast<int>(sockets.size());
  info.smt = info.logical_cpus > info.physical_cores;
  const size_t nodes = parse_cpu_list(read_line(root / "sys/devices/system/node/online")).size();
  info.numa_nodes = std::max(1, static_cast<int>(nodes));
}

void add_caches(CpuInfo& info, const fs::path& root, std::span<const int> cpus) {
  for (const Cache& cache : data_caches(root, cpus.front())) {
    if (cache.level == 1) info.l1d_bytes = cache.bytes;
    if (cache.level == 2) info.l2_bytes = cache.bytes;
    if (cache.level == 3) info.l3_bytes = cache.bytes;
  }
  std::map<std::string, int64_t> l3_instances;
  for (const int cpu : cpus) {
    for (const Cache& cache : data_caches(root, cpu)) {
      if (cache.level == 3) l3_instances[cache.shared_by] = cache.bytes;
    }
  }
  for (const auto& [shared_by, bytes] : l3_instances) info.l3_total_bytes += bytes;
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

CpuInfo cpu_info(const fs::path& root) {
  CpuInfo info;
  const auto models = cpuinfo_values(root, "model name");
  info.model = models.empty() ? "unknown" : models.front();
  const std::vector<int> cpus = online_cpus(root);
  info.logical_cpus = static_cast<int>(cpus.size());
  if (cpus.empty()) return info;
  add_topology(info, root, cpus);
  add_caches(info, root, cpus);
  info.governor = read_line(folder_of_cpu(root, cpus.front()) / "cpufreq/scaling_governor");
  return info;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<int> cpus;
  for (const std::string& part : split(trim(text), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_integer(part.substr(dash + 1));
    if (!first || !last) continue;
    for (int64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::vector<int> one_per_core_first(std::span<const int> cpus, const fs::path& root) {
  std::map<std::string, int> seen;
  std::vector<std::pair<int, int>> ranked;
  for (const int cpu : cpus) ranked.emplace_back(seen[core_of(root, cpu)]++, cpu);
  std::ranges::stable_sort(ranked, {}, &std::pair<int, int>::first);
  std::vector<int> ordered;
  for (const auto& [rank, cpu] : ranked) ordered.push_back(cpu);
  return ordered;
}

int count_cores(std::span<const int> cpus, const fs::path& root) {
  std::set<std::string> cores;
  for (const int cpu : cpus) cores.insert(core_of(root, cpu));
  return static_cast<int>(cores.size());
}

}  // namespace tacho
