#include "distributed/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "distributed/collectives.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

TEST(Watch, SaysNothingWhereEverybodyLeavesInTurn) {
  std::atomic<int> losses = 0;
  on_thread_ranks(3, [&](Communicator& all) {
    World world(all.first(3), "call");
    Watch watch(world, [&](const std::string&) { ++losses; });
    EXPECT_TRUE(watch.unwatched().empty());
    std::this_thread::sleep_for(std::chrono::milliseconds(50 * all.rank()));
  });
  EXPECT_EQ(losses, 0);
}

// A rank whose connection ends without a word, as that of a killed process does.
TEST(Watch, NamesARankThatEndsWithoutGoodbye) {
  std::promise<std::string> told;
  on_thread_ranks(2, [&](Communicator& all) {
    World world(all.first(2), "call");
    Watch watch(world, [&](const std::string& what) {
      if (all.rank() == 0) told.set_value(what);
    });
    if (all.rank() == 1) watch.break_off_for_test();
    if (all.rank() == 0) {
      EXPECT_THAT(told.get_future().get(), testing::AllOf(testing::HasSubstr("rank 1 on host"),
                                                          testing::HasSubstr("ended unexpectedly")));
    }
    barrier(all);
  });
}

}  // namespace
}  // namespace tacho
