#include "base/memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "base/fake_system.h"

namespace tacho {
namespace {

constexpr int64_t kMiB = 1 << 20;

FakeSystem& with_memory(FakeSystem& system) {
  return system
      .with("proc/meminfo", "MemTotal:       2000 kB\nMemFree:         100 kB\nMemAvailable:   1500 kB\n")
      .with("proc/self/status", "Name:\ttacho\nVmHWM:\t    300 kB\nVmRSS:\t    200 kB\n");
}

TEST(Memory, IsWhatTheSystemSaysWithoutALimit) {
  FakeSystem system;
  with_memory(system);
  EXPECT_EQ(total_memory_bytes(system.root()), 2000 * 1024);
  EXPECT_EQ(available_memory_bytes(system.root()), 1500 * 1024);
  EXPECT_EQ(resident_memory_bytes(system.root()), 200 * 1024);
  EXPECT_EQ(peak_memory_bytes(system.root()), 300 * 1024);
}

TEST(Memory, IsCutToTheCgroupsLimit) {
  FakeSystem system;
  with_memory(system)
      .with("proc/self/cgroup", "0::/\n")
      .with("sys/fs/cgroup/memory.max", "1024000\n")
      .with("sys/fs/cgroup/memory.current", "24000\n");
  EXPECT_EQ(total_memory_bytes(system.root()), 1024000);
  EXPECT_EQ(available_memory_bytes(system.root()), 1000000);
}

TEST(Memory, IsCutToTheLimitOfTheAddressSpace) {
  FakeSystem system;
  with_memory(system)
      .with("proc/self/status", "VmSize:\t    400 kB\n")
      .with("proc/self/limits",
            "Limit                     Soft Limit           Hard Limit           Units     \n"
            "Max data size             unlimited            unlimited            bytes     \n"
            "Max address space         1024000              unlimited            bytes     \n");
  EXPECT_EQ(total_memory_bytes(system.root()), 1024000);
  EXPECT_EQ(available_memory_bytes(system.root()), 1024000 - 400 * 1024);
  system.with("proc/self/limits",
              "Max address space         unlimited            unlimited            bytes     \n");
  EXPECT_EQ(available_memory_bytes(system.root()), 1500 * 1024);
}

TEST(Memory, OfThisMachineIsPlausible) {
  EXPECT_GT(available_memory_bytes(), 0);
  EXPECT_LE(available_memory_bytes(), total_memory_bytes());
  EXPECT_GT(resident_memory_bytes(), 0);
  EXPECT_LT(resident_memory_bytes(), total_memory_bytes());
}

// Straight from the system and back to it, which an allocator need not do.
void take_and_give_back(int64_t bytes) {
  const auto size = static_cast<size_t>(bytes);
  void* memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  std::memset(memory, 1, size);
  munmap(memory, size);
}

TEST(PeakMemory, RisesWithWhatIsTakenAndStaysAfterItIsGone) {
  reset_peak_memory();
  const int64_t before = resident_memory_bytes();
  take_and_give_back(64 * kMiB);
  EXPECT_GE(peak_memory_bytes(), before + 60 * kMiB);
}

TEST(PeakMemory, FallsBackToThePresentSizeWhenReset) {
  take_and_give_back(64 * kMiB);
  const int64_t high = peak_memory_bytes();
  if (!reset_peak_memory()) GTEST_SKIP() << "this system cannot reset the peak";
  EXPECT_LE(peak_memory_bytes(), high - 50 * kMiB);
}

}  // namespace
}  // namespace tacho
