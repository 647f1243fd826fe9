#include "data/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tacho {
namespace {

std::vector<int64_t> epoch_of(Order& order, int64_t epoch, int64_t images) {
  std::vector<int64_t> seen;
  for (int64_t i = 0; i < images; ++i) {
    const Order::Place place = order.at(epoch * images + i);
    EXPECT_EQ(place.epoch, epoch);
    seen.push_back(place.image);
  }
  return seen;
}

TEST(Order, HoldsEveryImageOncePerEpoch) {
  Order order(101, 7);
  std::vector<int64_t> every(101);
  std::iota(every.begin(), every.end(), 0);
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    std::vector<int64_t> seen = epoch_of(order, epoch, 101);
    EXPECT_NE(seen, every);
    std::ranges::sort(seen);
    EXPECT_EQ(seen, every);
  }
}

TEST(Order, IsTheSameForTheSameSeedAndAnotherInEachEpoch) {
  Order a(50, 1), b(50, 1), c(50, 2);
  EXPECT_EQ(epoch_of(a, 3, 50), epoch_of(b, 3, 50));
  EXPECT_NE(epoch_of(a, 3, 50), epoch_of(c, 3, 50));
  EXPECT_NE(epoch_of(a, 3, 50), epoch_of(a, 4, 50));
}

TEST(Order, WithoutASeedIsThatOfTheFile) {
  Order order(3, {});
  EXPECT_EQ(epoch_of(order, 5, 3), (std::vector<int64_t>{0, 1, 2}));
}

}  // namespace
}  // namespace tacho
