#include "base/cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/environment_variable.h"
#include "base/fake_system.h"

namespace tacho {
namespace {

const std::string kCpus = "sys/devices/system/cpu/", kNodes = "sys/devices/system/node/";

// Sets of CPUs are in hexadecimal: "5" is 0 and 2.
void add_cache(FakeSystem& system, const std::string& cpu, int index, const std::string& level,
               const std::string& type, const std::string& size, const std::string& shared_by) {
  const std::string folder = kCpus + cpu + "/cache/index" + std::to_string(index) + "/";
  system.with(folder + "level", level + "\n")
      .with(folder + "type", type + "\n")
      .with(folder + "size", size + "\n")
      .with(folder + "shared_cpu_map", shared_by + "\n");
}

void add_cpu(FakeSystem& system, int number, const std::string& socket, const std::string& siblings) {
  const std::string cpu = "cpu" + std::to_string(number), topology = kCpus + cpu + "/topology/";
  system.with(topology + "thread_siblings", siblings + "\n")
      .with(topology + "core_siblings", siblings + "\n")
      .with(topology + "physical_package_id", socket + "\n")
      .with(topology + "core_id", "0\n");
  add_cache(system, cpu, 0, "1", "Data", "48K", siblings);
  add_cache(system, cpu, 1, "1", "Instruction", "32K", siblings);
  add_cache(system, cpu, 2, "2", "Unified", "2048K", siblings);
  add_cache(system, cpu, 3, "3", "Unified", "32768K", siblings);
}

void add_node(FakeSystem& system, const std::string& number, const std::string& cpus) {
  const std::string folder = kNodes + "node" + number + "/";
  system.with(folder + "cpumap", cpus + "\n")
      .with(folder + "meminfo", "Node " + number + " MemTotal: 1024 kB\n");
}

// Two sockets of one core with two hardware threads each: 0 and 2 share a core, 1 and 3 the other.
void add_four_cpus(FakeSystem& system) {
  system.with("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 2GHz\n\nprocessor\t: 1\n")
      .with(kCpus + "online", "0-3\n")
      .with(kCpus + "possible", "0-3\n")
      .with(kNodes + "online", "0-1\n")
      .with(kCpus + "cpu0/cpufreq/scaling_governor", "powersave\n");
  for (const int number : {0, 1, 2, 3}) {
    add_cpu(system, number, std::to_string(number % 2), number % 2 == 0 ? "5" : "a");
  }
  add_node(system, "0", "5");
  add_node(system, "1", "a");
}

Topology topology_of(const FakeSystem& system) {
  const EnvironmentVariable root("HWLOC_FSROOT", system.root());
  return Topology();
}

CpuInfo info_of(const FakeSystem& system) { return cpu_info(topology_of(system), system.root()); }

TEST(CpuInfo, CountsThreadsCoresSocketsAndNodes) {
  FakeSystem system;
  add_four_cpus(system);
  const CpuInfo info = info_of(system);
  EXPECT_EQ(info.model, "Fast CPU @ 2GHz");
  EXPECT_EQ(info.logical_cpus, 4);
  EXPECT_EQ(info.physical_cores, 2);
  EXPECT_EQ(info.sockets, 2);
  EXPECT_EQ(info.numa_nodes, 2);
  EXPECT_TRUE(info.smt);
  EXPECT_EQ(info.governor, "powersave");
}

TEST(CpuInfo, KnowsOneCacheOfEachLevelAndAllOfTheThird) {
  FakeSystem system;
  add_four_cpus(system);
  const CpuInfo info = info_of(system);
  EXPECT_EQ(info.l1d_bytes, 48 << 10);
  EXPECT_EQ(info.l2_bytes, 2 << 20);
  EXPECT_EQ(info.l3_bytes, 32 << 20);
  EXPECT_EQ(info.l3_total_bytes, 64 << 20);
}

TEST(CpuInfo, MakesDoWithHardwareThreadsAndProcCpuinfo) {
  FakeSystem system;
  system.with("proc/cpuinfo", "processor : 0\nmodel name : A\n\nprocessor : 1\nmodel name : A\n");
  const EnvironmentVariable threads_only("HWLOC_SYNTHETIC", "pu:2");
  const CpuInfo info = cpu_info(Topology(), system.root());
  EXPECT_EQ(info.model, "A");
  EXPECT_EQ(info.logical_cpus, 2);
  EXPECT_EQ(info.physical_cores, 2);
  EXPECT_EQ(info.sockets, 1);
  EXPECT_EQ(info.numa_nodes, 1);
  EXPECT_FALSE(info.smt);
  EXPECT_EQ(info.governor, "");
}

TEST(CpuInfo, OfASystemThatSaysNothingIsUnknown) {
  const FakeSystem system;
  const CpuInfo info = info_of(system);
  EXPECT_EQ(info.model, "unknown");
  EXPECT_GE(info.physical_cores, 1);
  EXPECT_GE(usable_cores(std::vector{0}, topology_of(system), system.root()), 1);
}

TEST(CpuInfo, LeavesOutCpusThatAreOffline) {
  FakeSystem system;
  add_four_cpus(system);
  system.with(kCpus + "online", "0-1,3\n").with(kCpus + "cpu2/online", "0\n");
  const CpuInfo info = info_of(system);
  EXPECT_EQ(info.logical_cpus, 3);
  EXPECT_EQ(info.physical_cores, 2);
}

TEST(CpuInfo, CountsCpusThatThisProcessMayNotUse) {
  FakeSystem system;
  add_four_cpus(system);
  system.with("proc/self/cgroup", "0::/\n")
      .with("proc/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n")
      .with("sys/fs/cgroup/cgroup.controllers", "cpuset cpu\n")
      .with("sys/fs/cgroup/cpuset.cpus.effective", "0\n")
      .with("sys/fs/cgroup/cpuset.mems.effective", "0\n");
  const CpuInfo info = info_of(system);
  EXPECT_EQ(info.logical_cpus, 4);
  EXPECT_EQ(info.numa_nodes, 2);
}

TEST(CpuInfo, OfThisMachineIsPlausible) {
  const CpuInfo info = cpu_info();
  EXPECT_GE(info.physical_cores, 1);
  EXPECT_GE(info.logical_cpus, info.physical_cores);
  EXPECT_GE(info.physical_cores, info.sockets);
}

TEST(Cores, FillBeforeTheirSecondThreads) {
  FakeSystem system;
  add_four_cpus(system);
  EXPECT_EQ(one_per_core_first(std::vector{0, 2, 3, 1}, topology_of(system)), (std::vector<int>{0, 3, 2, 1}));
}

TEST(UsableCores, AreTheCoresOfTheAllowedCpus) {
  FakeSystem system;
  add_four_cpus(system);
  const Topology topology = topology_of(system);
  EXPECT_EQ(usable_cores(std::vector{0, 1, 2, 3}, topology, system.root()), 2);
  EXPECT_EQ(usable_cores(std::vector{0, 2}, topology, system.root()), 1);
}

TEST(UsableCores, AreCutToTheQuota) {
  FakeSystem system;
  add_four_cpus(system);
  const Topology topology = topology_of(system);
  system.with("proc/self/cgroup", "0::/\n").with("sys/fs/cgroup/cpu.max", "190000 100000\n");
  EXPECT_EQ(usable_cores(std::vector{0, 1, 2, 3}, topology, system.root()), 1);
  system.with("sys/fs/cgroup/cpu.max", "20000 100000\n");
  EXPECT_EQ(usable_cores(std::vector{0, 1, 2, 3}, topology, system.root()), 1);
  system.with("sys/fs/cgroup/cpu.max", "800000 100000\n");
  EXPECT_EQ(usable_cores(std::vector{0, 1, 2, 3}, topology, system.root()), 2);
}

TEST(UsableCores, OfThisMachineAreAmongTheAllowed) {
  EXPECT_GE(usable_cores(), 1);
  EXPECT_LE(usable_cores(), static_cast<int>(allowed_cpus().size()));
}

TEST(InstructionSet, IsAlwaysNamed) { EXPECT_NE(to_string(widest_instruction_set()), "?"); }

}  // namespace
}  // namespace tacho
