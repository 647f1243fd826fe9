#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct hwloc_bitmap_s;
struct hwloc_topology;

namespace tacho {

// CPUs by the system's numbers, ready to bind threads to.
class CpuSet {
 public:
  CpuSet();
  explicit CpuSet(std::span<const int> cpus);

  hwloc_bitmap_s* bitmap() const { return bitmap_.get(); }

 private:
  struct Release {
    void operator()(hwloc_bitmap_s* bitmap) const;
  };
  std::unique_ptr<hwloc_bitmap_s, Release> bitmap_;
};

// What hwloc knows about the CPUs of a machine. Where it knows nothing there is one core.
class Topology {
 public:
  // Of this machine, unless hwloc's environment variables (HWLOC_FSROOT, HWLOC_SYNTHETIC) name another.
  Topology();

  std::string cpu_model() const;  // empty where unknown
  std::vector<int> online_cpus() const;
  int sockets() const;
  int numa_nodes() const;
  // Bytes of the data caches of levels 1, 2 and 3 that the first CPU uses.
  std::array<int64_t, 3> cache_bytes() const;
  // Of all caches of level 3 together.
  int64_t l3_total_bytes() const;
  // The lowest hardware thread of a CPU's core: the CPU itself where its core is unknown.
  int first_thread_of_core(int cpu) const;

  // The CPUs that the calling thread may run on; never empty.
  std::vector<int> cpus_of_this_thread() const;
  // Does nothing where the system does not allow it, or the topology is another machine's.
  void bind_this_thread(const CpuSet& cpus) const;

 private:
  struct Release {
    void operator()(hwloc_topology* topology) const;
  };
  using Handle = std::unique_ptr<hwloc_topology, Release>;
  static Handle load(const char* synthetic);

  Handle handle_;
};

// Loaded at the first call, which sets environment variables for a moment: use_threads() comes before
// helpers.
const Topology& this_machine();

std::string hwloc_version();

}  // namespace tacho
