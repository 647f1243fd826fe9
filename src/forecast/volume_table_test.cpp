#include "forecast/volume_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "results/example_record.h"
#include "results/references.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Record> published() {
  std::vector<Record> records = reference_records();
  std::erase_if(records, [](const Record& record) { return !record.reference.starts_with("embl-"); });
  return records;
}

Record own_training() {
  Record record = example_record("1");
  record.kind = record.mode = "train";
  record.model = "unet3d_lite";
  record.samples_ms = {};
  record.median_ms = record.mean_ms = record.images_per_s = {};
  record.iterations = 10;
  record.seconds = 25;
  record.evaluation_seconds = 5;
  record.iterations_per_min = 30;
  return record;
}

Record own_prediction() {
  Record record = own_training();
  record.kind = "predict";
  record.mode = "infer";
  record.iterations = {};
  record.iterations_per_min = record.evaluation_seconds = {};
  record.seconds = 12.5;
  record.output_mvox_per_s = 0.5;
  return record;
}

// The line of a table that begins so, without the blanks that align it.
std::string row_of(const std::string& tables, const std::string& title, const std::string& system) {
  const size_t table = tables.find(title + ":");
  const size_t begin = tables.find("| " + system, table);
  std::string line;
  for (const char c : tables.substr(begin, tables.find('\n', begin) - begin)) {
    if (c != ' ') line += c;
  }
  return line;
}

TEST(VolumeTables, PutTheReportsHoursRightAndSayWhy) {
  const std::string tables = format_volume_tables(published(), Format::md);
  EXPECT_EQ(row_of(tables, "A volume of 8.1 Tvox", "Cluster:1080Ti"),
            "|Cluster:1080Ti|unet3d|1|8.8|255.7|25.7|5.6|401.8|");
  EXPECT_THAT(tables, HasSubstr("10 times too small"));
  EXPECT_THAT(tables, HasSubstr("take 255.7 h, not 25.7 h"));
  EXPECT_THAT(tables, HasSubstr("wrote 64 % of the voxels and counted 100 %"));
}

TEST(VolumeTables, HoldEveryPublishedSystemOnce) {
  const std::string tables = format_volume_tables(published(), Format::md);
  EXPECT_EQ(row_of(tables, "Training", "VM:P40-Grid"), "|VM:P40-Grid|unet3d|1|1816.7|33.1|33.1|");
  EXPECT_EQ(row_of(tables, "Training", "Cluster:1080Ti | unet3d |       2"),
            "|Cluster:1080Ti|unet3d|2|2053.8|29.2|29.4|");
  EXPECT_EQ(row_of(tables, "Prediction", "SMC:V100"), "|SMC:V100|unet3d|1|148.4|12.7|8.2|");
  EXPECT_EQ(row_of(tables, "100,000 iterations of training", "SMC:P100"), "|SMC:P100|unet3d|1|29.0|2.4|2.4|");
}

TEST(VolumeTables, SetOwnFiguresFirstAndLeaveOutEvaluation) {
  std::vector<Record> records = {own_training(), own_prediction()};
  const std::vector<Record> others = published();
  records.insert(records.end(), others.begin(), others.end());
  const std::string tables = format_volume_tables(records, Format::md);
  EXPECT_EQ(row_of(tables, "Training", "bench1"), "|bench1|unet3d_lite|1|20.0|30.0|-|");
  EXPECT_EQ(row_of(tables, "Prediction", "bench1"), "|bench1|unet3d_lite|1|12.5|0.50|0.50|");
  EXPECT_LT(tables.find("bench1"), tables.find("VM:P40-Grid"));
}

TEST(VolumeTables, LeaveOutWhatNobodyHas) {
  const std::vector<Record> records = {own_prediction()};
  const std::string tables = format_volume_tables(records, Format::md);
  EXPECT_THAT(tables, Not(HasSubstr("Training:")));
  EXPECT_THAT(tables, Not(HasSubstr("slip")));
}

}  // namespace
}  // namespace tacho
