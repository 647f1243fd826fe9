#include <gtest/gtest.h>

#include "distributed/collectives.h"
#include "distributed/group.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

// Means by a ring, all of them at the end.
class LateExchange final : public DeviceExchange {
 public:
  LateExchange(Communicator& ranks, size_t& started) : ranks_(ranks), started_(started) {}

  std::string_view name() const override { return "late"; }
  void start(std::span<float> gradients) override {
    waiting_.push_back(gradients);
    ++started_;
  }
  double finish() override {
    for (const std::span<float> gradients : waiting_) {
      std::vector<float> scratch(ring_scratch(gradients.size(), ranks_.size()));
      all_reduce_mean(ranks_, gradients, scratch);
    }
    waiting_.clear();
    return 7;
  }

 private:
  Communicator& ranks_;
  size_t& started_;
  std::vector<std::span<float>> waiting_;
};

TEST(DirectGroup, StartsEachBucketAsSoonAsItIsFullAndEndsWithMeans) {
  constexpr size_t kRange = 1000, kRanges = 5;
  on_thread_ranks(3, [&](Communicator& all) {
    size_t started = 0;
    const auto group =
        direct_group(all, 2 * kRange * sizeof(float), std::make_unique<LateExchange>(all, started));
    EXPECT_EQ(group->rank(), all.rank());
    EXPECT_EQ(group->size(), 3);
    EXPECT_EQ(group->way(), "late");
    EXPECT_TRUE(group->reaches_devices());
    std::vector<float> arena(kRange * kRanges);
    for (int pass = 0; pass < 2; ++pass) {
      started = 0;
      std::ranges::fill(arena, static_cast<float>(pass + 3 * all.rank()));
      for (size_t i = 0; i < kRanges; ++i) {
        group->take({arena.data() + i * kRange, kRange});
        EXPECT_EQ(started, (i + 1) / 2);
      }
      EXPECT_EQ(arena[0], static_cast<float>(pass + 3 * all.rank()));
      group->finish_exchange();
      EXPECT_EQ(started, 3u);
      for (const float value : arena) ASSERT_FLOAT_EQ(value, static_cast<float>(pass + 3));
    }
  });
}

TEST(DirectGroup, TellsWhatAnExchangeTookAndWhatARingWouldHaveMoved) {
  on_thread_ranks(2, [&](Communicator& all) {
    size_t started = 0;
    const auto group = direct_group(all, 1 << 20, std::make_unique<LateExchange>(all, started));
    std::vector<float> arena(4096);
    for (int pass = 0; pass < 2; ++pass) {
      group->take(arena);
      group->finish_exchange();
      EXPECT_EQ(group->last_exchange().ms, 7);
      EXPECT_EQ(group->last_exchange().bytes, ring_bytes(arena.size(), 2));
    }
  });
}

}  // namespace
}  // namespace tacho
