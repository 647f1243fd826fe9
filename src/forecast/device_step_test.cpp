#include "forecast/device_step.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

constexpr NetworkSpeed kOneByteAMicrosecond = {.bytes_per_s = 1e6, .latency_s = 0};
const Connections kFlat = {.between_nodes = kOneByteAMicrosecond};

// 100 ms a pass: 30 forward, 60 backward, 10 update.
Record trained(std::vector<double> samples_ms = {100}) {
  Record record = {
      .id = "1", .kind = "bench", .model = "resnet50", .mode = "train", .batch = 16, .devices = 1};
  record.samples_ms = std::move(samples_ms);
  record.forward_ms = 30;
  record.backward_ms = 60;
  record.update_ms = 10;
  record.buckets = {{.bytes = 10'000, .ready_ms = 60}};
  return record;
}

PredictedStep predicted(const Record& record, int devices, const Connections& connections = kFlat) {
  return predict_step(device_pass(record, 0).value(), devices, connections);
}

TEST(DevicePass, NeedsTrainingOnOneDeviceWithPhasesAndGradients) {
  EXPECT_TRUE(device_pass(trained(), 0).has_value());
  Record record = trained();
  record.mode = "infer";
  EXPECT_FALSE(device_pass(record, 0).has_value());
  record = trained();
  record.devices = 2;
  EXPECT_FALSE(device_pass(record, 0).has_value());
  record = trained();
  record.backward_ms.reset();
  EXPECT_FALSE(device_pass(record, 0).has_value());
  record = trained();
  record.buckets.clear();
  EXPECT_FALSE(device_pass(record, 0).has_value());
}

TEST(DevicePass, IsNeverASimulatedOne) {
  Record record = trained();
  record.judgement.verdict = Verdict::simulated;
  EXPECT_FALSE(device_pass(record, 0).has_value());
}

TEST(DevicePass, AssumesBucketsOnlyWhereTheRecordHasNone) {
  Record record = trained();
  EXPECT_EQ(device_pass(record, 1 << 20)->buckets[0].bytes, 10'000);
  EXPECT_FALSE(device_pass(record, 1 << 20)->buckets_assumed);
  record.buckets.clear();
  EXPECT_EQ(device_pass(record, 1 << 20)->buckets[0].bytes, 1 << 20);
  EXPECT_TRUE(device_pass(record, 1 << 20)->buckets_assumed);
}

TEST(DevicePass, WithoutSamplesIsTheSumOfItsPhases) {
  EXPECT_DOUBLE_EQ(predicted(trained({}), 1).step_ms, 100);
}

TEST(ExpectedSlowest, IsTheMeanOfOneDraw) {
  EXPECT_DOUBLE_EQ(expected_slowest_ms(std::vector<double>{3, 1, 2}, 1), 2);
}

TEST(ExpectedSlowest, OfTwoDrawsFromTwoSamplesIsTheLargerInThreeOfFourCases) {
  EXPECT_DOUBLE_EQ(expected_slowest_ms(std::vector<double>{1, 2}, 2), 1.75);
}

TEST(ExpectedSlowest, OfManyDrawsIsTheLargestSample) {
  EXPECT_NEAR(expected_slowest_ms(std::vector<double>{1, 2, 9}, 1000), 9, 1e-9);
}

TEST(PredictStep, OneDeviceTakesTheMeasuredPass) {
  const PredictedStep step = predicted(trained({90, 110}), 1);
  EXPECT_DOUBLE_EQ(step.step_ms, 100);
  EXPECT_DOUBLE_EQ(step.lower_ms, 100);
  EXPECT_DOUBLE_EQ(step.upper_ms, 100);
  EXPECT_DOUBLE_EQ(step.images_per_s, 160);
  EXPECT_DOUBLE_EQ(step.speedup, 1);
}

TEST(PredictStep, TwoDevicesExchangeOneBucketAfterTheBackwardPass) {
  const PredictedStep step = predicted(trained(), 2);
  EXPECT_DOUBLE_EQ(step.exposed_allreduce_ms, 10);
  EXPECT_DOUBLE_EQ(step.step_ms, 110);
  EXPECT_DOUBLE_EQ(step.images_per_s, 2 * 16 / 0.110);
  EXPECT_DOUBLE_EQ(step.speedup, 2 / 1.1);
}

TEST(PredictStep, TheStepWaitsForTheSlowestDevice) {
  const PredictedStep step = predicted(trained({80, 120}), 2);
  EXPECT_DOUBLE_EQ(step.wait_ms, 10);  // 110 of two draws, 100 of one
  EXPECT_DOUBLE_EQ(step.step_ms, 120);
}

TEST(PredictStep, TheBoundsAreFullOverlapWithoutWaitAndNoOverlapWithIt) {
  Record record = trained({80, 120});
  record.buckets = {{.bytes = 50'000, .ready_ms = 40}, {.bytes = 20'000, .ready_ms = 60}};
  const PredictedStep step = predicted(record, 2);
  EXPECT_DOUBLE_EQ(step.allreduce_ms, 70);
  EXPECT_DOUBLE_EQ(step.exposed_allreduce_ms, 50);  // from 40 to 90 to 110
  EXPECT_DOUBLE_EQ(step.lower_ms, 100 + 10);        // 70 ms of exchange do not fit beside 60 of backward
  EXPECT_DOUBLE_EQ(step.step_ms, 100 + 10 + 50);
  EXPECT_DOUBLE_EQ(step.upper_ms, 100 + 10 + 70);
}

TEST(PredictStep, MoreDevicesNeverMakeAStepShorterAndItStaysWithinItsBounds) {
  Record record = trained({95, 97, 99, 100, 101, 108});
  record.buckets = {
      {.bytes = 1'000, .ready_ms = 5}, {.bytes = 25'000, .ready_ms = 30}, {.bytes = 7'000, .ready_ms = 60}};
  constexpr double kRounding = 1e-9;
  for (const int per_node : {1, 4}) {
    const Connections connections = {.between_nodes = {.bytes_per_s = 1e6, .latency_s = 25e-6},
                                     .devices_per_node = per_node,
                                     .within_node = NetworkSpeed{.bytes_per_s = 1e8, .latency_s = 1e-6}};
    PredictedStep before;
    for (int devices = 1; devices <= 300; ++devices) {
      const PredictedStep step = predicted(record, devices, connections);
      EXPECT_GE(step.step_ms, before.step_ms - kRounding) << devices;
      EXPECT_LE(step.lower_ms, step.step_ms + kRounding) << devices;
      EXPECT_GE(step.upper_ms, step.step_ms - kRounding) << devices;
      before = step;
    }
  }
}

TEST(PredictStep, AQuickerNetworkExposesLess) {
  const Connections quick = {.between_nodes = {.bytes_per_s = 1e9, .latency_s = 0}};
  EXPECT_LT(predicted(trained(), 8, quick).step_ms, predicted(trained(), 8).step_ms);
}

}  // namespace
}  // namespace tacho
