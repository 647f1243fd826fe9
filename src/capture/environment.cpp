#include "capture/environment.h"

#include <fmt/format.h>
#include <gnu/libc-version.h>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/os.h"
#include "base/topology.h"
#include "distributed/mpi.h"
#include "engine/engines.h"
#include "tacho_commit.h"

namespace tacho {
namespace {

std::string compiler() {
#ifdef __clang__
  return "clang " __clang_version__;
#else
  return "g++ " __VERSION__;
#endif
}

std::map<std::string, std::string> engine_versions() {
  std::map<std::string, std::string> versions;
  for (const Engine* engine : engines()) versions.emplace(engine->name(), engine->version());
  return versions;
}

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> versions = {
      {"OpenMP", std::to_string(_OPENMP)},
      {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
      {"glibc", gnu_get_libc_version()},
      {"hwloc", hwloc_version()},
      {"nlohmann-json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                    NLOHMANN_JSON_VERSION_PATCH)},
  };
  if (const std::string mpi = mpi_version(); !mpi.empty()) versions.emplace("MPI", mpi);
  return versions;
}

}  // namespace

SystemInfo capture_system(std::string_view name) {
  const CpuInfo cpu = cpu_info();
  return {
      .name = name.empty() ? host_name() : std::string(name),
      .machine_id = machine_id(),
      .cpu = cpu.model,
      .cores = usable_cores(),
      .sockets = cpu.sockets,
      .physical_cores = cpu.physical_cores,
      .logical_cpus = cpu.logical_cpus,
      .numa_nodes = cpu.numa_nodes,
      .smt = cpu.smt,
      .instruction_set = to_string(widest_instruction_set()),
      .l1d_bytes = cpu.l1d_bytes,
      .l2_bytes = cpu.l2_bytes,
      .l3_bytes = cpu.l3_bytes,
      .governor = cpu.governor,
      .memory_mib = total_memory_bytes() >> 20,
      .gpus = GpuDriver().gpus(),
      .os = fmt::format("{}, kernel {}", os_name(), kernel_version()),
      .compiler = compiler(),
      .engines = engine_versions(),
      .libraries = library_versions(),
      .version = TACHO_VERSION,
      .commit = kCommit,
      .build_type = TACHO_BUILD_TYPE,
  };
}

std::vector<EngineInfo> engine_details() {
  std::vector<EngineInfo> all;
  for (const Engine* engine : engines()) {
    EngineInfo& info = all.emplace_back(EngineInfo{.name = std::string(engine->name())});
    try {
      info.instruction_set = engine->instruction_set();
      info.threads = engine->threads_of(usable_cores());
      for (const std::string& device : engine->devices())
        info.precisions[device] = engine->precisions(device);
    } catch (const UserError& error) {
      info.missing = error.what();
    }
  }
  return all;
}

std::string build_name() { return fmt::format("{}, commit {}", TACHO_VERSION, kCommit); }

}  // namespace tacho
