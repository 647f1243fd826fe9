#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cmath>
#include <memory>

#include "base/cgroup.h"
#include "base/cpu.h"

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tacho {
namespace {

namespace fs = std::filesystem;

// Where threads are placed.
struct Places {
  CpuSet everywhere;
  std::vector<CpuSet> one_each;  // taken in this order

  explicit Places(std::span<const int> cpus) : everywhere(cpus) {
    for (const int cpu : cpus) one_each.emplace_back(std::span(&cpu, 1));
  }
};

// Where this process may run, as it was at first, and what use_cores() chose of it: whoever places threads
// meanwhile goes on with what was there.
struct Process {
  const std::vector<int> allowed = this_machine().cpus_of_this_thread();
  const std::vector<int> ordered = one_per_core_first(allowed);
  std::atomic<std::shared_ptr<const Places>> places = std::make_shared<const Places>(ordered);
};

Process& process() {
  static Process process;
  return process;
}

void flush_denormals() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

}  // namespace

std::vector<int> allowed_cpus() { return process().allowed; }

int usable_cores() { return usable_cores(allowed_cpus(), this_machine(), "/"); }

int usable_cores(std::span<const int> allowed, const Topology& topology, const fs::path& root) {
  const double quota = std::floor(cgroup_limits(root).cpus);
  return static_cast<int>(std::clamp(quota, 1.0, static_cast<double>(count_cores(allowed, topology))));
}

void use_cores(int first, int count) {
  const std::span<const int> all = process().ordered;
  const auto begin = static_cast<size_t>(first), cores = static_cast<size_t>(count);
  process().places = std::make_shared<const Places>(
      count > 0 && begin + cores <= all.size() ? all.subspan(begin, cores) : all);
}

void use_threads(int threads) {
  assert(threads >= 1);
  const std::shared_ptr<const Places> places = process().places.load();
  const bool quota = cgroup_limits().cpus < static_cast<double>(process().allowed.size());
  const bool pinned = static_cast<size_t>(threads) <= places->one_each.size() && !quota;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
  {
    flush_denormals();
    const auto number = static_cast<size_t>(omp_get_thread_num());
    this_machine().bind_this_thread(pinned ? places->one_each[number] : places->everywhere);
  }
  if (threads > 1) run_anywhere();
}

int team_size(int threads) {
  use_threads(threads);
  int size = 0;
#pragma omp parallel reduction(+ : size)
  size += 1;
  return size;
}

void run_anywhere() { this_machine().bind_this_thread(process().places.load()->everywhere); }

}  // namespace tacho
