#include <omp.h>
#include <sched.h>

#include <algorithm>
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

// A set of CPUs for the system's calls, of as many CPUs as `capacity`.
class CpuSet {
 public:
  explicit CpuSet(int capacity) : bytes_(CPU_ALLOC_SIZE(capacity)), set_(CPU_ALLOC(capacity)) {
    CPU_ZERO_S(bytes_, set_.get());
  }
  explicit CpuSet(std::span<const int> cpus) : CpuSet(std::ranges::max(cpus) + 1) {
    for (const int cpu : cpus) CPU_SET_S(static_cast<size_t>(cpu), bytes_, set_.get());
  }

  bool read_from_this_thread() { return sched_getaffinity(0, bytes_, set_.get()) == 0; }
  bool apply_to_this_thread() const { return sched_setaffinity(0, bytes_, set_.get()) == 0; }
  bool has(int cpu) const { return CPU_ISSET_S(static_cast<size_t>(cpu), bytes_, set_.get()); }

 private:
  struct Release {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  size_t bytes_;
  std::unique_ptr<cpu_set_t, Release> set_;
};

std::vector<int> cpus_of_this_thread() {
  // The call fails while the set is smaller than the kernel's own.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 2) {
    CpuSet set(capacity);
    if (!set.read_from_this_thread()) continue;
    std::vector<int> cpus;
    for (int cpu = 0; cpu < capacity; ++cpu) {
      if (set.has(cpu)) cpus.push_back(cpu);
    }
    return cpus;
  }
  return {0};
}

void run_on(std::span<const int> cpus) { CpuSet(cpus).apply_to_this_thread(); }

void flush_denormals() {
#if defined(__SSE__)
  constexpr unsigned kFlushToZero = 0x8000, kDenormalsAreZero = 0x0040;
  _mm_setcsr(_mm_getcsr() | kFlushToZero | kDenormalsAreZero);
#endif
}

}  // namespace

std::vector<int> allowed_cpus() {
  static const std::vector<int> cpus = cpus_of_this_thread();
  return cpus;
}

int usable_cores() { return usable_cores(allowed_cpus(), "/"); }

int usable_cores(std::span<const int> allowed, const fs::path& root) {
  const double quota = std::floor(cgroup_limits(root).cpus);
  return static_cast<int>(std::clamp(quota, 1.0, static_cast<double>(count_cores(allowed, root))));
}

void use_threads(int threads) {
  assert(threads >= 1);
  const std::vector<int> allowed = allowed_cpus();
  const std::vector<int> places = one_per_core_first(allowed);
  const auto count = static_cast<double>(places.size());
  const bool pinned = threads <= count && cgroup_limits().cpus >= count;
  omp_set_dynamic(0);
  omp_set_num_threads(threads);
#pragma omp parallel num_threads(threads)
  {
    flush_denormals();
    const auto number = static_cast<size_t>(omp_get_thread_num());
    run_on(pinned ? std::span(places).subspan(number, 1) : std::span(allowed));
  }
  if (threads > 1) run_on(allowed);
}

void run_anywhere() { run_on(allowed_cpus()); }

}  // namespace tacho
