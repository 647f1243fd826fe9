#include "forecast/job.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

Record measured(std::string mode, std::vector<double> samples_ms, int64_t batch = 16) {
  Record record = {.kind = "bench", .model = "resnet50", .mode = std::move(mode)};
  record.batch = batch;
  record.devices = 1;
  record.image = "224x224";
  record.median_ms = median(samples_ms);
  record.samples_ms = std::move(samples_ms);
  return record;
}

TEST(Estimate, IterationsTakeTheMeanPass) {
  const auto estimates = estimate(measured("train", {1000, 1000, 1300}), {.iterations = 100e3});
  ASSERT_EQ(estimates.size(), 1u);
  EXPECT_NEAR(estimates[0].seconds(), 110e3, 1e-6);
  ASSERT_TRUE(estimates[0].unit.interval.has_value());
  EXPECT_LT(estimates[0].unit.interval->low, 1.1);
  EXPECT_GT(estimates[0].unit.interval->high, 1.1);
}

TEST(Estimate, AnEpochIsWholeBatches) {
  const auto estimates = estimate(measured("train", {100, 100}), {.epochs = 10, .images = 50'001});
  ASSERT_EQ(estimates.size(), 1u);
  EXPECT_NEAR(estimates[0].seconds(), 10 * 3126 * 0.1, 1e-9);
}

TEST(Estimate, ImagesNeedInferenceAndIterationsTraining) {
  EXPECT_TRUE(estimate(measured("train", {100}), {.images = 1e6}).empty());
  EXPECT_TRUE(estimate(measured("infer", {100}), {.iterations = 1e6}).empty());
  EXPECT_NEAR(estimate(measured("infer", {100}), {.images = 1.6e6})[0].seconds(), 1e4, 1e-6);
}

TEST(Estimate, VoxelsOfANetworkAloneSaySo) {
  Record record = measured("infer", {1000}, 1);
  record.image = "10x100x100";
  const auto estimates = estimate(record, {.voxels = 1e9});
  ASSERT_EQ(estimates.size(), 1u);
  EXPECT_NEAR(estimates[0].seconds(), 1e4, 1e-6);
  EXPECT_NE(estimates[0].basis, "");
}

TEST(Estimate, PublishedRatesAreTakenAsCorrected) {
  Record record = {.kind = "predict", .mode = "infer"};
  record.output_mvox_per_s = 8.8;
  record.corrected = {{"output_mvox_per_s", 5.6}};
  EXPECT_NEAR(estimate(record, {.voxels = 5.6e6})[0].seconds(), 1, 1e-9);
  EXPECT_FALSE(estimate(record, {.voxels = 1})[0].unit.interval.has_value());
}

}  // namespace
}  // namespace tacho
