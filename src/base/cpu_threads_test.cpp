#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include <set>

#include "base/cgroup.h"
#include "base/cpu.h"

namespace tacho {
namespace {

// The CPUs that each OpenMP thread may run on.
std::vector<std::set<int>> places_of_threads() {
  std::vector<std::set<int>> places(static_cast<size_t>(omp_get_max_threads()));
#pragma omp parallel
  {
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &set)) places[static_cast<size_t>(omp_get_thread_num())].insert(cpu);
    }
  }
  return places;
}

// Leaves the other tests the threads they would have had.
class UseThreads : public testing::Test {
 protected:
  void TearDown() override { use_threads(usable_cores()); }

  const std::vector<int> allowed_ = allowed_cpus();
  const std::set<int> everywhere_{allowed_.begin(), allowed_.end()};
  const bool can_pin_ = cgroup_limits().cpus >= static_cast<double>(allowed_.size());
};

TEST_F(UseThreads, SetsTheNumberOfThreads) {
  for (const int threads : {3, 1, 2}) {
    use_threads(threads);
    EXPECT_EQ(omp_get_max_threads(), threads);
    EXPECT_EQ(places_of_threads().size(), static_cast<size_t>(threads));
  }
}

TEST_F(UseThreads, GivesEachWorkerACpuOfItsOwn) {
  if (!can_pin_) GTEST_SKIP() << "there is a CPU quota";
  use_threads(static_cast<int>(allowed_.size()));
  const auto places = places_of_threads();
  std::set<int> taken;
  for (size_t worker = 1; worker < places.size(); ++worker) {
    EXPECT_EQ(places[worker].size(), 1u);
    taken.insert(places[worker].begin(), places[worker].end());
  }
  EXPECT_EQ(taken.size(), allowed_.size() - 1);
}

TEST_F(UseThreads, KeepsToTheCoresItWasGiven) {
  if (!can_pin_ || allowed_.size() < 2) GTEST_SKIP() << "there is a CPU quota, or one CPU";
  const std::vector<int> ordered = one_per_core_first(allowed_);
  use_cores(1, 1);
  use_threads(1);
  EXPECT_EQ(places_of_threads()[0], std::set<int>{ordered[1]});
  use_threads(2);  // more than it has
  for (const auto& place : places_of_threads()) EXPECT_EQ(place, std::set<int>{ordered[1]});
  use_cores(0, 0);
  use_threads(1);
  run_anywhere();
  EXPECT_EQ(places_of_threads()[0], everywhere_);
}

TEST_F(UseThreads, BindsALoneThread) {
  if (!can_pin_) GTEST_SKIP() << "there is a CPU quota";
  use_threads(1);
  EXPECT_EQ(places_of_threads().front().size(), 1u);
}

TEST_F(UseThreads, BindsNoneWhereThereAreTooFewCpus) {
  use_threads(1);
  use_threads(static_cast<int>(allowed_.size()) + 1);
  for (const auto& place : places_of_threads()) EXPECT_EQ(place, everywhere_);
}

// Workers that libgomp starts later inherit the caller's CPUs: bound to one, all would share it.
TEST_F(UseThreads, DoesNotBindACallerThatHasWorkers) {
  use_threads(1);
  use_threads(2);
  EXPECT_EQ(places_of_threads().front(), everywhere_);
}

TEST_F(UseThreads, DoesNotChangeWhatIsAllowed) {
  use_threads(1);
  EXPECT_EQ(allowed_cpus(), allowed_);
}

TEST_F(UseThreads, FlushesDenormalsInEveryThread) {
  use_threads(2);
  volatile float smallest_normal = 1.17549435e-38f;
  int flushed = 0;
#pragma omp parallel reduction(+ : flushed)
  flushed += smallest_normal / 2 == 0;
  EXPECT_EQ(flushed, 2);
}

}  // namespace
}  // namespace tacho
