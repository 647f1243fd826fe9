#include "distributed/buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tacho {
namespace {

using ::testing::ElementsAre;

constexpr size_t kMib = (size_t{1} << 20) / sizeof(float);

class BucketsOf4Mib : public testing::Test {
 protected:
  // Ranges of an arena in backward order: from its end to its beginning.
  void add(std::vector<size_t> mib) {
    for (const size_t size : mib) {
      end_ -= size * kMib;
      buckets_.add({arena_.data() + end_, size * kMib});
    }
  }

  std::vector<float> arena_ = std::vector<float>(64 * kMib);
  size_t end_ = arena_.size();
  std::vector<size_t> given_mib_;
  std::vector<const float*> begins_;
  Buckets buckets_{4 * kMib * sizeof(float), [this](std::span<float> bucket) {
                     given_mib_.push_back(bucket.size() / kMib);
                     begins_.push_back(bucket.data());
                   }};
};

TEST_F(BucketsOf4Mib, TheFirstIsGivenEarlyAndTheOthersWhenTheyAreFull) {
  add({1, 1, 2, 1, 3, 1, 2});
  EXPECT_THAT(given_mib_, ElementsAre(1, 4, 4));
  buckets_.finish();
  EXPECT_THAT(given_mib_, ElementsAre(1, 4, 4, 2));
}

TEST_F(BucketsOf4Mib, ALargeRangeMakesSeveral) {
  add({1, 10});
  EXPECT_THAT(given_mib_, ElementsAre(1, 4, 4, 2));
}

TEST_F(BucketsOf4Mib, HoldEveryValueOnce) {
  add({1, 3, 7, 2, 5, 1, 1});
  buckets_.finish();
  std::vector<bool> seen(64);
  for (size_t i = 0; i < given_mib_.size(); ++i) {
    for (size_t mib = 0; mib < given_mib_[i]; ++mib) {
      const size_t at = static_cast<size_t>(begins_[i] - arena_.data()) / kMib + mib;
      EXPECT_FALSE(seen[at]) << at;
      seen[at] = true;
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 20);
}

TEST_F(BucketsOf4Mib, RangesThatDoNotTouchAreNotJoined) {
  add({1});
  buckets_.add({arena_.data(), kMib});
  buckets_.add({arena_.data() + 5 * kMib, kMib});
  buckets_.finish();
  EXPECT_THAT(given_mib_, ElementsAre(1, 1, 1));
}

TEST_F(BucketsOf4Mib, EveryPassBeginsWithASmallOne) {
  add({1, 1});
  buckets_.finish();
  add({1, 1});
  buckets_.finish();
  EXPECT_THAT(given_mib_, ElementsAre(1, 1, 1, 1));
}

}  // namespace
}  // namespace tacho
