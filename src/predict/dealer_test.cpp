#include "predict/dealer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>

#include "distributed/collectives.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

std::vector<int64_t> first_numbers(int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

class DealerOfRanks : public testing::TestWithParam<int> {};

TEST_P(DealerOfRanks, EveryNumberIsDealtExactlyOnce) {
  std::mutex mutex;
  std::vector<int64_t> dealt;
  on_thread_ranks(GetParam(), [&](Communicator& ranks) {
    Dealer dealer(ranks, ranks.rank() == 0 ? first_numbers(57) : std::vector<int64_t>());
    while (const auto number = dealer.next(0)) {
      const std::scoped_lock lock(mutex);
      dealt.push_back(*number);
    }
  });
  std::ranges::sort(dealt);
  EXPECT_EQ(dealt, first_numbers(57));
}

INSTANTIATE_TEST_SUITE_P(Dealer, DealerOfRanks, testing::Values(1, 2, 5));

TEST(Dealer, TheFirstRankKnowsHowFarTheOthersAre) {
  on_thread_ranks(2, [&](Communicator& ranks) {
    Dealer dealer(ranks, ranks.rank() == 0 ? std::vector<int64_t>() : first_numbers(1));
    if (ranks.rank() == 1) dealer.next(5);
    barrier(ranks);
    EXPECT_EQ(dealer.finished_elsewhere(), ranks.rank() == 0 ? 5 : 0);
  });
}

TEST(Dealer, NothingIsDealtAfterAnyRankStops) {
  for (const int stopping : {0, 2}) {
    std::atomic<int> dealt = 0;
    on_thread_ranks(3, [&](Communicator& ranks) {
      Dealer dealer(ranks, first_numbers(1'000'000));
      if (ranks.rank() == stopping) dealer.stop();
      while (dealer.next(0)) ++dealt;
    });
    EXPECT_LT(dealt, 1'000'000);
  }
}

}  // namespace
}  // namespace tacho
