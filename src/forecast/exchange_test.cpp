#include "forecast/exchange.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr NetworkSpeed kMegabyteASecond = {.bytes_per_s = 1e6, .latency_s = 0};
constexpr NetworkSpeed kLatencyOnly = {.bytes_per_s = 1e30, .latency_s = 1e-3};

const Connections kNoNodes = {.between_nodes = kMegabyteASecond};

TEST(RingAllreduce, TwoDevicesSendTheirHalvesTwice) {
  EXPECT_DOUBLE_EQ(ring_allreduce_ms(1e6, 2, kMegabyteASecond), 1000);
}

TEST(RingAllreduce, ManyDevicesSendNearlyTwiceTheBytesWhateverTheirNumber) {
  EXPECT_DOUBLE_EQ(ring_allreduce_ms(1e6, 4, kMegabyteASecond), 1500);
  EXPECT_NEAR(ring_allreduce_ms(1e6, 1000, kMegabyteASecond), 2000, 2.1);
}

TEST(RingAllreduce, EveryMessageCostsTheLatency) {
  EXPECT_DOUBLE_EQ(ring_allreduce_ms(1e6, 2, kLatencyOnly), 2);
  EXPECT_DOUBLE_EQ(ring_allreduce_ms(1e6, 128, kLatencyOnly), 254);
}

TEST(RingAllreduce, OneDeviceHasNothingToExchange) {
  EXPECT_EQ(ring_allreduce_ms(1e6, 1, {.bytes_per_s = 1, .latency_s = 1}), 0);
}

TEST(Allreduce, NodesFormARingAndTheirDevicesAnother) {
  const Connections nodes = {
      .between_nodes = kMegabyteASecond, .devices_per_node = 4, .within_node = kLatencyOnly};
  EXPECT_DOUBLE_EQ(allreduce_ms(1e6, 8, nodes), 1000 + 6);
  EXPECT_DOUBLE_EQ(allreduce_ms(1e6, 4, nodes), 6);
  EXPECT_DOUBLE_EQ(allreduce_ms(1e6, 2, nodes), 2);
}

TEST(Allreduce, ANodeThatIsNotFullIsANodeToo) {
  const Connections nodes = {.between_nodes = kMegabyteASecond, .devices_per_node = 4};
  EXPECT_DOUBLE_EQ(allreduce_ms(1e6, 5, nodes), 1000);
}

TEST(Allreduce, IsFreeWithinANodeOfWhichNothingIsKnown) {
  const Connections nodes = {.between_nodes = kMegabyteASecond, .devices_per_node = 4};
  EXPECT_EQ(allreduce_ms(1e6, 4, nodes), 0);
}

TEST(Exchange, ABucketThatIsReadyWithTheLastGradientIsAllExposed) {
  const GradientBucket bucket = {.bytes = 1000, .ready_ms = 50};
  const Exchange two = exchange({&bucket, 1}, 50, 2, kNoNodes);
  EXPECT_DOUBLE_EQ(two.total_ms, 1);
  EXPECT_DOUBLE_EQ(two.exposed_ms, 1);
}

TEST(Exchange, ABucketThatIsReadyEarlyIsHidden) {
  const GradientBucket bucket = {.bytes = 1000, .ready_ms = 20};
  EXPECT_DOUBLE_EQ(exchange({&bucket, 1}, 50, 2, kNoNodes).total_ms, 1);
  EXPECT_EQ(exchange({&bucket, 1}, 50, 2, kNoNodes).exposed_ms, 0);
}

TEST(Exchange, ABucketWaitsForTheOneBeforeIt) {
  const std::vector<GradientBucket> buckets = {{.bytes = 40'000, .ready_ms = 20},
                                               {.bytes = 5'000, .ready_ms = 50}};
  // The first goes from 20 to 60, the second from 60 to 65.
  EXPECT_DOUBLE_EQ(exchange(buckets, 50, 2, kNoNodes).exposed_ms, 15);
}

TEST(Exchange, TheLinkWaitsForABucketThatIsReadyLate) {
  const std::vector<GradientBucket> buckets = {{.bytes = 4'000, .ready_ms = 10},
                                               {.bytes = 5'000, .ready_ms = 48}};
  EXPECT_DOUBLE_EQ(exchange(buckets, 50, 2, kNoNodes).exposed_ms, 3);
}

TEST(Exchange, NoBucketIsReadyAfterTheBackwardPass) {
  const GradientBucket bucket = {.bytes = 1000, .ready_ms = 51};
  EXPECT_DOUBLE_EQ(exchange({&bucket, 1}, 50, 2, kNoNodes).exposed_ms, 1);
}

TEST(AssumedBuckets, FillAtAnEvenRateTheFirstOneSmall) {
  const auto buckets = assumed_buckets(int64_t{51} << 20, 102);
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].bytes, 1 << 20);
  EXPECT_DOUBLE_EQ(buckets[0].ready_ms, 2);
  EXPECT_EQ(buckets[1].bytes, 25 << 20);
  EXPECT_DOUBLE_EQ(buckets[1].ready_ms, 52);
  EXPECT_EQ(buckets[2].bytes, 25 << 20);
  EXPECT_DOUBLE_EQ(buckets[2].ready_ms, 102);
}

TEST(AssumedBuckets, HoldAllGradients) {
  const auto buckets = assumed_buckets((int64_t{1} << 20) + 3, 10);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[1].bytes, 3);
}

}  // namespace
}  // namespace tacho
