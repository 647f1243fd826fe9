#include "base/topology.h"

#include <hwloc.h>

#include <algorithm>
#include <new>

#include "base/environment_variable.h"

namespace tacho {
namespace {

// Only what is asked below, and without moving this thread from CPU to CPU, as hwloc does to ask each.
void leave_out_what_is_not_used(hwloc_topology_t topology) {
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED |
                                         HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING |
                                         HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_MEMATTRS |
                                         HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS);
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MISC, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_GROUP, HWLOC_TYPE_FILTER_KEEP_NONE);
}

std::vector<int> numbers_in(hwloc_const_bitmap_t bitmap) {
  std::vector<int> numbers;
  for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i)) numbers.push_back(i);
  return numbers;
}

int at_least_one(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(1, hwloc_get_nbobjs_by_type(topology, type));
}

}  // namespace

CpuSet::CpuSet() : bitmap_(hwloc_bitmap_alloc()) {
  if (!bitmap_) throw std::bad_alloc();
}

CpuSet::CpuSet(std::span<const int> cpus) : CpuSet() {
  for (const int cpu : cpus) hwloc_bitmap_set(bitmap_.get(), static_cast<unsigned>(cpu));
}

void CpuSet::Release::operator()(hwloc_bitmap_s* bitmap) const { hwloc_bitmap_free(bitmap); }

void Topology::Release::operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }

Topology::Topology() : handle_(load(nullptr)) {
  if (!handle_) handle_ = load("pu:1");
  if (!handle_) throw std::bad_alloc();
}

Topology::Handle Topology::load(const char* synthetic) {
  // Plugins look for devices, and take longer to load than everything else.
  const EnvironmentVariable no_plugins("HWLOC_PLUGINS_PATH", ""), silent("HWLOC_HIDE_ERRORS", "2");
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Handle handle(topology);
  leave_out_what_is_not_used(topology);
  if (synthetic != nullptr) hwloc_topology_set_synthetic(topology, synthetic);
  return hwloc_topology_load(topology) == 0 ? std::move(handle) : nullptr;
}

std::string Topology::cpu_model() const {
  hwloc_obj_t owner = hwloc_get_obj_by_type(handle_.get(), HWLOC_OBJ_PACKAGE, 0);
  if (owner == nullptr) owner = hwloc_get_root_obj(handle_.get());
  const char* model = hwloc_obj_get_info_by_name(owner, "CPUModel");
  return model == nullptr ? "" : model;
}

std::vector<int> Topology::online_cpus() const {
  return numbers_in(hwloc_topology_get_topology_cpuset(handle_.get()));
}

int Topology::sockets() const { return at_least_one(handle_.get(), HWLOC_OBJ_PACKAGE); }

int Topology::numa_nodes() const { return at_least_one(handle_.get(), HWLOC_OBJ_NUMANODE); }

std::array<int64_t, 3> Topology::cache_bytes() const {
  std::array<int64_t, 3> bytes{};
  for (hwloc_obj_t object = hwloc_get_obj_by_type(handle_.get(), HWLOC_OBJ_PU, 0); object != nullptr;
       object = object->parent) {
    if (!hwloc_obj_type_is_dcache(object->type)) continue;
    const unsigned level = object->attr->cache.depth;
    if (level <= bytes.size()) bytes[level - 1] = static_cast<int64_t>(object->attr->cache.size);
  }
  return bytes;
}

int64_t Topology::l3_total_bytes() const {
  int64_t bytes = 0;
  hwloc_obj_t cache = nullptr;
  while ((cache = hwloc_get_next_obj_by_type(handle_.get(), HWLOC_OBJ_L3CACHE, cache)) != nullptr) {
    bytes += static_cast<int64_t>(cache->attr->cache.size);
  }
  return bytes;
}

int Topology::first_thread_of_core(int cpu) const {
  hwloc_obj_t thread = hwloc_get_pu_obj_by_os_index(handle_.get(), static_cast<unsigned>(cpu));
  if (thread == nullptr) return cpu;
  hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(handle_.get(), HWLOC_OBJ_CORE, thread);
  return core == nullptr ? cpu : hwloc_bitmap_first(core->cpuset);
}

std::vector<int> Topology::cpus_of_this_thread() const {
  const CpuSet set;
  hwloc_get_cpubind(handle_.get(), set.bitmap(), HWLOC_CPUBIND_THREAD);
  std::vector<int> cpus = numbers_in(set.bitmap());
  return cpus.empty() ? online_cpus() : cpus;
}

void Topology::bind_this_thread(const CpuSet& cpus) const {
  hwloc_set_cpubind(handle_.get(), cpus.bitmap(), HWLOC_CPUBIND_THREAD);
}

const Topology& this_machine() {
  static const Topology topology;
  return topology;
}

std::string hwloc_version() { return HWLOC_VERSION; }

}  // namespace tacho
