#include "distributed/joint_passes.h"

#include <gtest/gtest.h>

#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

// begin, scatter, forward, backward, exchange, update, end.
const PassTimes kFast = {0, 0, 10, 30, 48, 50, 50, {.ms = 20, .bytes = 100}},
                kSlow = {1, 1, 15, 45, 48, 51, 51, {.ms = 21, .bytes = 200}};

TEST(JointPasses, LastFromTheFirstBeginToTheLastEnd) {
  const std::vector<std::vector<PassTimes>> by_rank = {{kFast}, {kSlow}};
  const JointPasses joint = join_passes(by_rank);
  EXPECT_EQ(joint.samples_ms, std::vector<double>{51});
  EXPECT_EQ(joint.bytes_moved, 300);
}

TEST(JointPasses, WaitingForTheSlowestIsNotTheExchange) {
  const std::vector<std::vector<PassTimes>> by_rank = {{kFast}, {kSlow}};
  const JointPasses joint = join_passes(by_rank);
  const PassParts fast = joint.parts[0][0], slow = joint.parts[1][0];
  EXPECT_DOUBLE_EQ(fast.exposed_allreduce_ms, 3);
  EXPECT_DOUBLE_EQ(slow.exposed_allreduce_ms, 3);
  EXPECT_DOUBLE_EQ(fast.wait_ms, 15 + 1);  // for its backward pass, and at the end
  EXPECT_DOUBLE_EQ(slow.wait_ms, 1);       // it began later
  EXPECT_DOUBLE_EQ(fast.allreduce_ms, 20);
}

TEST(JointPasses, PartsOfEachRankAddUpToThePass) {
  const PassTimes first = {0, 4, 10, 10, 10, 10, 25}, second = {0, 6, 22, 22, 22, 22, 24};
  const std::vector<std::vector<PassTimes>> by_rank = {{first, kFast}, {second, kSlow}};
  const JointPasses joint = join_passes(by_rank);
  for (const auto& parts : joint.parts) {
    for (size_t pass = 0; pass < 2; ++pass) EXPECT_DOUBLE_EQ(parts[pass].total_ms(), joint.samples_ms[pass]);
  }
  EXPECT_DOUBLE_EQ(joint.parts[0][0].gather_ms,
                   3);  // the rest of it was waiting for the other's forward pass
  EXPECT_DOUBLE_EQ(joint.parts[0][0].wait_ms, 12);
}

TEST(JointPasses, AreGatheredOnTheClockOfRank0) {
  on_thread_ranks(2, [](Communicator& all) {
    const double ahead_ms = 1000 * all.rank();
    PassTimes own = all.rank() == 0 ? kFast : kSlow;
    for (double* moment : {&own.begin_ms, &own.scatter_end_ms, &own.forward_end_ms, &own.backward_end_ms,
                           &own.exchange_end_ms, &own.update_end_ms, &own.end_ms}) {
      *moment += ahead_ms;
    }
    const JointPasses joint = gather_passes(all, std::span(&own, 1), -ahead_ms);
    EXPECT_EQ(joint.samples_ms, std::vector<double>{51});
    EXPECT_DOUBLE_EQ(joint.parts[0][0].wait_ms, 16);
  });
}

}  // namespace
}  // namespace tacho
