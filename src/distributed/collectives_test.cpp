#include "distributed/collectives.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/random.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;

class Collectives : public testing::TestWithParam<int> {
 protected:
  int ranks() const { return GetParam(); }
};

TEST_P(Collectives, ABarrierHoldsEverybodyUntilTheLastHasCome) {
  std::atomic<int> came = 0;
  on_thread_ranks(ranks(), [&](Communicator& all) {
    ++came;
    barrier(all);
    EXPECT_EQ(came, ranks());
  });
}

TEST_P(Collectives, ABroadcastGivesAllWhatRank0Has) {
  on_thread_ranks(ranks(), [&](Communicator& all) {
    EXPECT_EQ(broadcast(all, all.rank() == 0 ? std::string("from rank 0") : "other"), "from rank 0");
    EXPECT_EQ(broadcast(all, int64_t{all.rank() + 7}), 7);
    EXPECT_EQ(broadcast(all, std::string()), "");
  });
}

TEST_P(Collectives, EverybodyGathersInTheOrderOfTheRanks) {
  on_thread_ranks(ranks(), [&](Communicator& all) {
    const std::array own = {all.rank() * 1.0, all.rank() + 0.5};
    std::vector<double> expected;
    std::vector<std::string> texts;
    for (int rank = 0; rank < ranks(); ++rank) {
      expected.insert(expected.end(), {rank * 1.0, rank + 0.5});
      texts.emplace_back(static_cast<size_t>(rank), 'x');  // rank 0 has nothing to say
    }
    EXPECT_EQ(all_gather(all, own), expected);
    EXPECT_EQ(all_gather(all, std::string(static_cast<size_t>(all.rank()), 'x')), texts);
  });
}

TEST_P(Collectives, OneYesIsEnough) {
  on_thread_ranks(ranks(), [&](Communicator& all) {
    EXPECT_TRUE(any(all, all.rank() == ranks() - 1));
    EXPECT_FALSE(any(all, false));
  });
}

TEST_P(Collectives, PartsAreHandedOutAndGathered) {
  on_thread_ranks(ranks(), [&](Communicator& all) {
    std::vector<size_t> parts;
    for (int rank = 0; rank < ranks(); ++rank) parts.push_back(static_cast<size_t>(rank) + 1);
    std::vector<std::byte> whole(std::accumulate(parts.begin(), parts.end(), size_t{0}));
    for (size_t i = 0; i < whole.size(); ++i) whole[i] = static_cast<std::byte>(i + 1);
    const std::vector<std::byte> expected = whole;
    std::vector<std::byte> own(parts[static_cast<size_t>(all.rank())]);
    scatter(all, whole, parts, own);
    EXPECT_EQ(own.back(), expected[static_cast<size_t>((all.rank() + 1) * (all.rank() + 2) / 2 - 1)]);
    if (all.rank() == 0) std::ranges::fill(whole, std::byte{0});
    gather(all, own, parts, whole);
    if (all.rank() == 0) {
      EXPECT_EQ(whole, expected);
    }
  });
}

// What the mean must be, from numbers that add up without rounding.
TEST_P(Collectives, TheMeanIsRightForEveryCount) {
  for (const size_t count : {1, 2, 3, 7, 64, 1001}) {
    on_thread_ranks(ranks(), [&](Communicator& all) {
      std::vector<float> values(count), scratch(ring_scratch(count, ranks()));
      for (size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>((all.rank() + 1) * ranks()) + 256.0f * i;
      all_reduce_mean(all, values, scratch);
      for (size_t i = 0; i < count; ++i)
        ASSERT_FLOAT_EQ(values[i], ranks() * (ranks() + 1) / 2.0f + 256.0f * i) << i << " of " << count;
    });
  }
}

TEST_P(Collectives, TheMeanHasTheSameBitsOnEveryRankAndInEveryRun) {
  constexpr size_t kCount = 999;
  std::vector<float> first;
  for (int run = 0; run < 3; ++run) {
    std::vector<std::vector<float>> results(static_cast<size_t>(ranks()));
    on_thread_ranks(ranks(), [&](Communicator& all) {
      std::vector<float> values(kCount), scratch(ring_scratch(kCount, ranks()));
      Random(static_cast<uint64_t>(all.rank()) + 1).fill_normal(values, 0, 1);
      all_reduce_mean(all, values, scratch);
      results[static_cast<size_t>(all.rank())] = values;
    });
    if (run == 0) first = results[0];
    for (const auto& result : results) EXPECT_EQ(result, first);
  }
}

TEST_P(Collectives, GroupsWithinGroupsDoNotMixTheirMessages) {
  on_thread_ranks(ranks(), [&](Communicator& all) {
    const auto again = all.first(ranks()), pair = all.first(2);
    EXPECT_EQ(pair != nullptr, all.rank() < 2);
    if (pair) {
      EXPECT_EQ(broadcast(*pair, int64_t{all.rank() + 1}), 1);
    }
    EXPECT_EQ(broadcast(*again, int64_t{all.rank() + 5}), 5);
  });
}

INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3, 4, 5, 8));

TEST(RingBytes, AreTwiceTheOthersShare) {
  EXPECT_EQ(ring_bytes(1000, 1), 0);
  EXPECT_EQ(ring_bytes(1000, 2), 4000);
  EXPECT_EQ(ring_bytes(1000, 4), 6000);
}

}  // namespace
}  // namespace tacho
