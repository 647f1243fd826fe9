#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/topology.h"

namespace tacho {

inline constexpr int kMostThreads = 4096;  // that a user may ask for

// `root` is where the system's files are, for tests.

enum class InstructionSet { sse2, avx2, avx512 };

// The widest that this CPU and operating system can run and the user allows. avx2 includes FMA; avx512 is F,
// BW, VL and DQ.
InstructionSet widest_instruction_set();
// Whether that includes products of bf16.
bool has_bf16_products();
// The environment variable TACHO_INSTRUCTION_SET: sse2, avx2 or avx512, which is also the default. Throws
// UserError for anything else.
InstructionSet allowed_instruction_set();
std::string to_string(InstructionSet set);

struct CpuInfo {
  std::string model;
  int logical_cpus = 0;
  int physical_cores = 0;
  int sockets = 0;
  int numa_nodes = 0;
  bool smt = false;
  int64_t l1d_bytes = 0, l2_bytes = 0, l3_bytes = 0;  // of one instance
  int64_t l3_total_bytes = 0;                         // of all instances
  std::string governor;                               // empty where the system does not say
};
CpuInfo cpu_info(const Topology& topology = this_machine(), const std::filesystem::path& root = "/");

// The same CPUs, reordered so that each core's first hardware thread comes before any core's second.
std::vector<int> one_per_core_first(std::span<const int> cpus, const Topology& topology = this_machine());

// How many cores these CPUs are hardware threads of.
int count_cores(std::span<const int> cpus, const Topology& topology = this_machine());

// The CPUs this process was allowed to run on when it first asked: use_threads() does not change the answer.
std::vector<int> allowed_cpus();

// How many threads make sense: the cores of the allowed CPUs, cut to the cgroup's CPU quota; at least 1.
int usable_cores();
int usable_cores(std::span<const int> allowed, const Topology& topology, const std::filesystem::path& root);

// From now on threads are placed on `count` of the allowed CPUs only, from the `first` on, one thread of each
// core before any core's second; on all of them where there are not so many, or `count` is 0.
void use_cores(int first, int count);

// Uses `threads` OpenMP threads from now on, with denormals flushed to zero, each on its own allowed CPU
// while there are enough; with a CPU quota the system chooses the CPUs, since the process shares them. The
// calling thread is placed but not bound: libgomp starts new workers after a smaller parallel region, and
// these inherit its CPUs. Alone (`threads` is 1) it is bound.
void use_threads(int threads);

// How many threads compute in a parallel region after use_threads().
int team_size(int threads);

// Lets the calling thread run on every allowed CPU: helpers inherit the place of the thread that starts them.
void run_anywhere();

}  // namespace tacho
