#include "distributed/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/cpu.h"
#include "base/error.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

TEST(World, OfOneProcessSharesItsCoresOut) {
  const World world(alone(), "call");
  EXPECT_EQ(world.size(), 1);
  EXPECT_EQ(world.threads_per_device(1), usable_cores());
  EXPECT_EQ(world.threads_per_device(1000), 1);
  EXPECT_TRUE(world.has_cores_for(1, usable_cores()));
  EXPECT_FALSE(world.has_cores_for(2, usable_cores()));
}

TEST(World, SeatsRanksOfOneHostSideBySide) {
  on_thread_ranks(3, [](Communicator& all) {
    const World world(all.first(3), "call");
    EXPECT_EQ(world.seat(3).index, world.rank());
    EXPECT_EQ(world.seat(3).count, 3);
    EXPECT_FALSE(world.seat(3).own_cores);  // threads may run on the same CPUs
    EXPECT_EQ(world.nodes(3), 1);
    EXPECT_EQ(world.threads_per_device(3), std::max(1, usable_cores() / 3));
    EXPECT_EQ(world.threads_per_device(1), usable_cores());
    EXPECT_EQ(world.clock_offset_ms(all), 0);
  });
}

TEST(World, TellsMachinesOfOneNameApartAndLeavesOtherNamesAlone) {
  EXPECT_THAT(distinct_hosts({"a", "a", "b", "a", "a", "c"}, {"1", "2", "1", "1", "2", ""}),
              testing::ElementsAre("a", "a#2", "b", "a", "a#2", "c"));
}

TEST(World, RefusesRanksThatRunAnotherCallOnAllOfThem) {
  on_thread_ranks(2, [](Communicator& all) {
    const std::string call = all.rank() == 0 ? "tacho bench a" : "tacho bench b";
    EXPECT_THAT([&] { World(all.first(2), call); },
                testing::ThrowsMessage<UserError>(testing::AllOf(testing::HasSubstr("'tacho bench a'"),
                                                                 testing::HasSubstr("'tacho bench b'"))));
  });
}

}  // namespace
}  // namespace tacho
