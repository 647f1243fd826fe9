#include "capture/predict_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_values.h"
#include "results/record_json.h"

namespace tacho {
namespace {

const SystemInfo kMachine = {.name = "bench1", .cpu = "A CPU", .cores = 2};

PredictionJob job() {
  return {.model = "unet3d", .input = "a.h5", .execution = {.engine = "native", .threads = 2}};
}

PredictionResult four_seconds() {
  return {.volume = {100, 200, 400},
          .block = {50, 200, 200},
          .blocks = 4,
          .all_blocks = 4,
          .output_voxels = 8'000'000,
          .input_voxels = 20'000'000,
          .bytes_read = 12'000'000,
          .bytes_written = 9'000'000,
          .seconds = 4,
          .network_ms = 3960,
          .input_wait_ms = 30,
          .saved_share = 0.25,
          .flop = 8e9,
          .peak_memory_bytes = 3 << 20,
          .hosts = {"a"}};
}

TEST(PredictRecord, RatesFollowFromVoxelsAndSeconds) {
  const Record record = make_predict_record(job(), four_seconds(), kMachine);
  EXPECT_DOUBLE_EQ(record.output_mvox_per_s.value(), 2);
  EXPECT_DOUBLE_EQ(record.input_mvox_per_s.value(), 5);
  EXPECT_DOUBLE_EQ(record.gflops.value(), 2);
  EXPECT_NEAR(record.device_idle_percent.value(), 1, 1e-9);
  EXPECT_DOUBLE_EQ(record.halo_saved_percent.value(), 25);
  EXPECT_DOUBLE_EQ(record.peak_memory_mib.value(), 3);
  EXPECT_EQ(record.judgement.reason, "");
}

TEST(PredictRecord, SaysWhatWasPredictedAndHow) {
  PredictionJob asked = job();
  asked.border = Border::network;
  asked.type = VoxelType::f32;
  const Json json = to_json(make_predict_record(asked, four_seconds(), kMachine));
  EXPECT_EQ(json["kind"], "predict");
  EXPECT_EQ(json["image"], "100x200x400");
  EXPECT_EQ(json["block"], "50x200x200");
  EXPECT_EQ(json["halo"], "exact");
  EXPECT_EQ(json["border"], "network");
  EXPECT_EQ(json["dtype"], "float32");
  EXPECT_EQ(json["blocks"], 4);
  EXPECT_EQ(json["bytes_read"], 12'000'000);
  EXPECT_EQ(json["bytes_written"], 9'000'000);
}

TEST(PredictRecord, ReasonsTellWhatASpeedMustBeReadWith) {
  PredictionJob asked = job();
  asked.halo = Point{2, 6, 6};
  PredictionResult result = four_seconds();
  result.blocks_before = 3;
  result.all_blocks = 9;
  result.network_ms = 2000;
  const Record record = make_predict_record(asked, result, kMachine);
  EXPECT_EQ(record.halo, "2x6x6");
  for (const char* words : {"inexact: beyond a halo of 2x6x6", "3 of 9 blocks were there already",
                            "interrupted after 7 of 9 blocks", "idle for 50 % of the time"}) {
    EXPECT_THAT(record.judgement.reason, testing::HasSubstr(words));
  }
}

TEST(PredictRecord, WithoutABlockOfItsOwnHasNoSpeed) {
  PredictionResult result = four_seconds();
  result.blocks = 0;
  result.blocks_before = 4;
  const Json json = to_json(make_predict_record(job(), result, kMachine));
  EXPECT_FALSE(json.contains("output_mvox_per_s"));
  EXPECT_FALSE(json.contains("seconds"));
  EXPECT_FALSE(json.contains("device_idle_percent"));
}

TEST(PredictRecord, OfMoreThreadsThanCoresIsOversubscribed) {
  PredictionResult result = four_seconds();
  result.has_cores = false;
  EXPECT_EQ(make_predict_record(job(), result, kMachine).judgement.verdict, Verdict::oversubscribed);
}

}  // namespace
}  // namespace tacho
