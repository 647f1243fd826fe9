#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/gpu.h"
#include "base/machine_speed.h"

namespace tacho {

// What an engine has on this machine.
struct EngineInfo {
  std::string name = {};
  std::string instruction_set = {};  // that it uses of the CPU
  int threads = 0;                   // that it computes with where it may use every core
  std::map<std::string, std::vector<std::string>> precisions = {};  // by device
  std::string missing = {};                                         // why it cannot be loaded
  Carried carried = {};
};

// The machine and the build that a measurement came from. What is not known is empty or zero.
struct SystemInfo {
  std::string name = {};
  std::string machine_id = {};  // base/os.h

  std::string cpu = {};
  int cores = 0;  // usable under affinity and cgroup limits
  int sockets = 0, physical_cores = 0, logical_cpus = 0, numa_nodes = 0;
  std::optional<bool> smt = {};
  std::string instruction_set = {};
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;
  std::string governor = {};
  int64_t memory_mib = 0;
  std::vector<GpuInfo> gpus = {};

  std::string os = {};
  std::string compiler = {};
  std::map<std::string, std::string> engines = {}, libraries = {};  // name -> version
  std::string version = {}, commit = {}, build_type = {};  // of tacho; the commit is empty outside a checkout

  std::vector<EngineInfo> engine_details = {};  // as far as they were asked: that loads their libraries
  std::vector<MachineSpeed> speeds = {};        // as far as they were measured
  std::vector<GpuSpeed> gpu_speeds = {};        // likewise
  std::vector<std::string> warnings = {};       // what made measurements less sure at that time
  Carried carried = {};
};

}  // namespace tacho
