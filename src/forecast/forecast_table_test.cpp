#include "forecast/forecast_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "forecast/volume_table.h"
#include "results/selection.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

Record training(std::string system, double ms) {
  Record record = {
      .id = "1", .kind = "bench", .model = "resnet50", .mode = "train", .batch = 16, .devices = 1};
  record.system.name = std::move(system);
  record.samples_ms = std::vector<double>(20, ms);
  return record;
}

TEST(PlanTable, TheFastestMachineComesFirstWithItsCost) {
  const std::vector<Record> records = {training("slow", 720), training("quick", 360)};
  const Json rows = Json::parse(format_forecast(records, {.iterations = 10e3}, 2.5, Format::json));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["system"], "quick");
  EXPECT_DOUBLE_EQ(rows[0]["seconds"], 3600);
  EXPECT_DOUBLE_EQ(rows[1]["cost"], 5);
  EXPECT_THAT(format_forecast(records, {.iterations = 10e3}, 2.5, Format::md), HasSubstr("1h 00m"));
}

TEST(PlanTable, RefusesAJobThatNoRecordSaysAnythingAbout) {
  const std::vector<Record> records = {training("slow", 720)};
  EXPECT_THROW(format_forecast(records, {.voxels = 1e9}, {}, Format::md), UserError);
}

// The report printed 25.7 h for 8.1 Tvox at 8.8 Mvox/s.
TEST(VolumeTable, PutsThePublishedExtrapolationRight) {
  const std::vector<Record> records = select_records("embl-summary", {}, "").records;
  const Json rows = Json::parse(format_volume_extrapolation(records, Format::json));
  const auto row = std::ranges::find_if(
      rows, [](const Json& r) { return r["system"] == "Cluster:1080Ti" && r["devices"] == 1; });
  ASSERT_NE(row, rows.end());
  EXPECT_DOUBLE_EQ((*row)["iterations_per_min"], 34.2);
  EXPECT_NEAR((*row)["100k_iterations_d"], 2.03, 0.01);
  EXPECT_DOUBLE_EQ((*row)["mvox_per_s"], 8.8);
  EXPECT_NEAR((*row)["8.1_tvox_h"], 255.7, 0.05);
  EXPECT_DOUBLE_EQ((*row)["published_8.1_tvox_h"], 25.7);
  EXPECT_NEAR((*row)["written_mvox_per_s"], 5.6, 0.1);
}

TEST(VolumeTable, RefusesRecordsWithoutAVolume) {
  const std::vector<Record> records = {training("slow", 720)};
  EXPECT_THROW(format_volume_extrapolation(records, Format::md), UserError);
}

}  // namespace
}  // namespace tacho
