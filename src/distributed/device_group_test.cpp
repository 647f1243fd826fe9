#include <gtest/gtest.h>

#include "distributed/group.h"
#include "distributed/thread_ranks.h"

namespace tacho {
namespace {

constexpr size_t kMibOfFloats = (size_t{1} << 20) / sizeof(float);

// Hands over an arena in backward order, in ranges of a third of a MiB.
void run_backward(std::vector<float>& arena, Group& group) {
  const size_t step = kMibOfFloats / 3;
  for (size_t end = arena.size(); end > 0; end -= std::min(end, step)) {
    const size_t begin = end - std::min(end, step);
    group.take({arena.data() + begin, end - begin});
  }
  group.finish_exchange();
}

TEST(DeviceGroup, MakesEveryGradientTheMeanOfAllDevices) {
  for (const int ranks : {2, 3, 4}) {
    on_thread_ranks(ranks, [&](Communicator& all) {
      const auto group = device_group(all, 2 * kMibOfFloats * sizeof(float));
      EXPECT_EQ(group->size(), ranks);
      EXPECT_EQ(group->rank(), all.rank());
      std::vector<float> arena(5 * kMibOfFloats + 17);
      for (int pass = 0; pass < 3; ++pass) {
        for (size_t i = 0; i < arena.size(); ++i)
          arena[i] = static_cast<float>(pass + 2 * all.rank()) + static_cast<float>(i % 1024);
        run_backward(arena, *group);
        for (size_t i = 0; i < arena.size(); ++i)
          ASSERT_FLOAT_EQ(arena[i], static_cast<float>(pass + ranks - 1) + static_cast<float>(i % 1024)) << i;
      }
    });
  }
}

TEST(DeviceGroup, TellsWhatAnExchangeMovedAndForgetsItWithTheNext) {
  on_thread_ranks(2, [&](Communicator& all) {
    const auto group = device_group(all, kMibOfFloats * sizeof(float));
    std::vector<float> arena(3 * kMibOfFloats);
    for (int pass = 0; pass < 2; ++pass) {
      run_backward(arena, *group);
      EXPECT_EQ(group->last_exchange().bytes, static_cast<int64_t>(arena.size() * sizeof(float)));
      EXPECT_GT(group->last_exchange().ms, 0);
    }
  });
}

}  // namespace
}  // namespace tacho
