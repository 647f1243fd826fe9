#include "capture/scaling.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tacho {
namespace {

Record training(int devices, int64_t batch, double forward_ms, double backward_ms, double update_ms) {
  Record record = {.kind = "bench", .model = "resnet50", .mode = "train", .engine = "native"};
  record.batch = batch;
  record.devices = devices;
  record.threads = 1;
  record.forward_ms = forward_ms;
  record.backward_ms = backward_ms;
  record.update_ms = update_ms;
  record.median_ms = forward_ms + backward_ms + update_ms;
  record.images_per_s = static_cast<double>(batch * devices) / *record.median_ms * 1e3;
  return record;
}

Record two_devices() {
  Record two = training(2, 32, 110, 220, 10);
  two.parallel = "allreduce";
  two.bucket_mib = 25;
  two.nodes = 1;
  two.exposed_allreduce_ms = 6;
  two.wait_ms = 4;
  two.median_ms = 350;
  two.images_per_s = 64 / 0.350;
  return two;
}

TEST(Scaling, TheLossIsTheSumOfItsParts) {
  const Record one = training(1, 32, 100, 200, 10);
  Record two = two_devices();
  add_scaling({&one, 1}, two);
  ASSERT_TRUE(two.speedup);
  EXPECT_NEAR(two.speedup.value(), 2 * 310 / 350.0, 1e-9);
  EXPECT_DOUBLE_EQ(two.lost_ms.at("slower backward"), 20);
  EXPECT_DOUBLE_EQ(two.lost_ms.at("exposed all-reduce"), 6);
  double sum = 0;
  for (const auto& [part, ms] : two.lost_ms) sum += ms;
  EXPECT_DOUBLE_EQ(sum, *two.median_ms - *one.median_ms);
}

TEST(Scaling, DevicesThatShareOneBatchHaveTheirShareOfItsTime) {
  Record one = training(1, 64, 200, 400, 10), two = two_devices();
  add_scaling({&one, 1}, two);
  EXPECT_DOUBLE_EQ(two.lost_ms.at("slower forward"), 110 - 200 / 2.0);
}

TEST(Scaling, InferenceOfOneDeviceIsItsForwardPass) {
  Record one = {
      .kind = "bench", .mode = "infer", .batch = 8, .devices = 1, .median_ms = 50, .images_per_s = 160};
  Record two = {.kind = "bench",
                .mode = "infer",
                .batch = 8,
                .devices = 2,
                .parallel = "replicas",
                .median_ms = 55,
                .forward_ms = 52,
                .wait_ms = 3,
                .images_per_s = 290};
  add_scaling({&one, 1}, two);
  EXPECT_DOUBLE_EQ(two.lost_ms.at("slower forward"), 2);
}

TEST(Scaling, AnotherCaseIsNotTheOneDevice) {
  Record other = training(1, 32, 100, 200, 10), small = training(1, 16, 100, 200, 10),
         several = two_devices();
  other.threads = 2;
  for (const Record& one : {other, small, several}) {
    Record two = two_devices();
    add_scaling({&one, 1}, two);
    EXPECT_FALSE(two.speedup);
    EXPECT_TRUE(two.lost_ms.empty());
  }
}

TEST(Scaling, SharedCoresAreNoSpeedup) {
  const Record one = training(1, 32, 100, 200, 10);
  Record two = two_devices();
  two.judgement.verdict = Verdict::oversubscribed;
  add_scaling({&one, 1}, two);
  EXPECT_FALSE(two.speedup);
  EXPECT_TRUE(two.lost_ms.empty());
}

}  // namespace
}  // namespace tacho
