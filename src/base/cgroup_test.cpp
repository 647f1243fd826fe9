#include "base/cgroup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/fake_system.h"

namespace tacho {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

TEST(Cgroup, LimitsNothingWhereTheSystemHasNone) {
  const FakeSystem system;
  const CgroupLimits limits = cgroup_limits(system.root());
  EXPECT_TRUE(std::isinf(limits.cpus));
  EXPECT_EQ(limits.memory_bytes, kNoLimit);
  EXPECT_EQ(limits.free_memory_bytes, kNoLimit);
}

TEST(Cgroup, ReadsVersion2) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/user/job\n")
      .with("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n")
      .with("sys/fs/cgroup/user/job/memory.max", "1000000\n")
      .with("sys/fs/cgroup/user/job/memory.current", "600000\n")
      .with("sys/fs/cgroup/user/job/memory.stat", "anon 1\ninactive_file 200000\nactive_file 5\n");
  const CgroupLimits limits = cgroup_limits(system.root());
  EXPECT_EQ(limits.cpus, 1.5);
  EXPECT_EQ(limits.memory_bytes, 1000000);
  EXPECT_EQ(limits.free_memory_bytes, 600000);
}

TEST(Cgroup, TakesTheTightestLimitOnTheWayUp) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/user/job\n")
      .with("sys/fs/cgroup/cpu.max", "800000 100000\n")
      .with("sys/fs/cgroup/user/cpu.max", "200000 100000\n")
      .with("sys/fs/cgroup/user/job/cpu.max", "max 100000\n")
      .with("sys/fs/cgroup/user/memory.max", "1000\n")
      .with("sys/fs/cgroup/user/memory.current", "900\n")
      .with("sys/fs/cgroup/user/job/memory.max", "500\n")
      .with("sys/fs/cgroup/user/job/memory.current", "100\n");
  const CgroupLimits limits = cgroup_limits(system.root());
  EXPECT_EQ(limits.cpus, 2);
  EXPECT_EQ(limits.memory_bytes, 500);
  EXPECT_EQ(limits.free_memory_bytes, 100);
}

TEST(Cgroup, UsesTheMountWhereThePathIsTheHosts) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/../../docker/abc\n").with("sys/fs/cgroup/cpu.max", "50000 100000\n");
  EXPECT_EQ(cgroup_limits(system.root()).cpus, 0.5);
}

TEST(Cgroup, ReadsVersion1) {
  FakeSystem system;
  system.with("proc/self/cgroup", "4:cpu,cpuacct:/job\n3:memory:/job\n1:name=systemd:/\n")
      .with("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "300000\n")
      .with("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n")
      .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n")
      .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n")
      .with("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n")
      .with("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4096\n")
      .with("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "3000\n")
      .with("sys/fs/cgroup/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
  const CgroupLimits limits = cgroup_limits(system.root());
  EXPECT_EQ(limits.cpus, 3);
  EXPECT_EQ(limits.memory_bytes, 4096);
  EXPECT_EQ(limits.free_memory_bytes, 2096);
}

TEST(Cgroup, FindsVersion1UnderTheJointNameOfItsControllers) {
  FakeSystem system;
  system.with("proc/self/cgroup", "4:cpu,cpuacct:/\n")
      .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n")
      .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(cgroup_limits(system.root()).cpus, 2);
}

TEST(Cgroup, NeverLeavesLessThanNothing) {
  FakeSystem system;
  system.with("proc/self/cgroup", "0::/\n")
      .with("sys/fs/cgroup/memory.max", "100\n")
      .with("sys/fs/cgroup/memory.current", "120\n");
  EXPECT_EQ(cgroup_limits(system.root()).free_memory_bytes, 0);
}

}  // namespace
}  // namespace tacho
