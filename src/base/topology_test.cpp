#include "base/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/environment_variable.h"
#include "base/fake_system.h"

namespace tacho {
namespace {

using testing::ElementsAre;

Topology synthetic(const std::string& description) {
  const EnvironmentVariable variable("HWLOC_SYNTHETIC", description);
  return Topology();
}

TEST(Topology, NumbersHardwareThreadsAsTheSystemDoes) {
  const Topology topology = synthetic("pack:1 core:2 pu:2(indexes=0,2,1,3)");
  EXPECT_THAT(topology.online_cpus(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(topology.first_thread_of_core(2), 0);
  EXPECT_EQ(topology.first_thread_of_core(3), 1);
}

TEST(Topology, TakesACpuThatItDoesNotKnowForACore) {
  EXPECT_EQ(synthetic("core:1 pu:2").first_thread_of_core(7), 7);
  EXPECT_EQ(synthetic("pu:2").first_thread_of_core(1), 1);
}

TEST(Topology, CountsSocketsAndNodesApart) {
  const Topology topology = synthetic("pack:2 numa:3 core:4 pu:1");
  EXPECT_EQ(topology.sockets(), 2);
  EXPECT_EQ(topology.numa_nodes(), 6);
}

TEST(Topology, KnowsTheDataCaches) {
  const Topology topology =
      synthetic("pack:2 l3:3(size=32MiB) l2:4(size=2MiB) l1d:1(size=48KiB) l1i:1(size=64KiB) core:1 pu:2");
  EXPECT_THAT(topology.cache_bytes(), ElementsAre(48 << 10, 2 << 20, 32 << 20));
  EXPECT_EQ(topology.l3_total_bytes(), 6 * (32 << 20));
}

TEST(Topology, HasNoBytesForCachesThatAreNotThere) {
  const Topology topology = synthetic("core:1 l1d:1(size=48KiB) pu:2");
  EXPECT_THAT(topology.cache_bytes(), ElementsAre(48 << 10, 0, 0));
  EXPECT_EQ(topology.l3_total_bytes(), 0);
}

TEST(Topology, IsOneCpuWhereHwlocFindsNothing) {
  const EnvironmentVariable no_components("HWLOC_COMPONENTS", "stop");
  const Topology topology;
  EXPECT_THAT(topology.online_cpus(), ElementsAre(0));
  EXPECT_THAT(topology.cpus_of_this_thread(), ElementsAre(0));
  EXPECT_EQ(topology.sockets(), 1);
  EXPECT_EQ(topology.numa_nodes(), 1);
  EXPECT_EQ(topology.cpu_model(), "");
}

TEST(Topology, OfAnotherMachineBindsNoThread) {
  const Topology other = synthetic("core:1 pu:1");
  const std::vector<int> before = this_machine().cpus_of_this_thread();
  other.bind_this_thread(CpuSet(std::vector{0}));
  EXPECT_EQ(this_machine().cpus_of_this_thread(), before);
}

TEST(Topology, BindsTheCallingThread) {
  const std::vector<int> before = this_machine().cpus_of_this_thread();
  this_machine().bind_this_thread(CpuSet(std::vector{before.back()}));
  EXPECT_THAT(this_machine().cpus_of_this_thread(), ElementsAre(before.back()));
  this_machine().bind_this_thread(CpuSet(before));
  EXPECT_EQ(this_machine().cpus_of_this_thread(), before);
}

TEST(Topology, OfThisMachineHasTheCpusOfThisThread) {
  const std::vector<int> online = this_machine().online_cpus();
  EXPECT_THAT(this_machine().cpus_of_this_thread(), testing::Each(testing::AnyOfArray(online)));
}

TEST(Topology, DoesNotPrintWhatHwlocCannotFind) {
  const FakeSystem without_cpus;
  const EnvironmentVariable root("HWLOC_FSROOT", without_cpus.root());
  testing::internal::CaptureStderr();
  const Topology topology;
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tacho
