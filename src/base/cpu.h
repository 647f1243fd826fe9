#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tacho {

enum class InstructionSet { sse2, avx2, avx512 };

// The widest instruction set that this CPU and operating system can run (avx2 includes FMA).
InstructionSet widest_instruction_set();
std::string to_string(InstructionSet set);

struct CpuInfo {
  std::string model;
  int logical_cpus = 0;
  int physical_cores = 0;
  int sockets = 0;
  int numa_nodes = 0;
  bool smt = false;
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of one instance
  std::string governor;                               // empty where the system does not say
};
CpuInfo cpu_info();

// The CPUs this process may run on, by affinity; what a cgroup quota allows is in usable_cores().
std::vector<int> allowed_cpus();

// How many threads make sense: allowed CPUs, cut to the cgroup's CPU quota; at least 1.
int usable_cores();

// Uses `threads` OpenMP threads from now on, each pinned to its own allowed CPU while there are enough, with
// denormals flushed to zero.
void use_threads(int threads);

}  // namespace tacho
