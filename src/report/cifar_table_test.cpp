#include "report/cifar_table.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

Record trained(const char* model, const char* engine, int devices) {
  Record record;
  record.model = model;
  record.engine = engine;
  record.devices = devices;
  record.epochs = {{.seconds = 1}};
  record.images_per_s = 100;
  return record;
}

TEST(CifarTable, SetsPublishedRowsOfTheSameNetworkAndDevicesBelowOurs) {
  const std::vector<Record> ours = {trained("resnet50", "native", 1), trained("inception_v3", "native", 1),
                                    trained("resnet50", "other", 1)};
  std::vector<Record> published = {trained("resnet50", "keras", 1), trained("resnet50", "keras", 2)};
  for (Record& record : published) record.reference = "keras-cifar10";
  published[0].images_per_s = 372.82;
  published[0].corrected["images_per_s"] = 310.69;
  const Grid grid = cifar_table(ours, published);
  ASSERT_EQ(grid.rows.size(), 4u);
  EXPECT_EQ(grid.rows[1][3], "other");
  EXPECT_EQ(grid.rows[2][3], "keras");
  EXPECT_EQ(grid.rows[2][9], "372.82 (310.69)");
  EXPECT_EQ(grid.rows[3][0], "inception_v3");
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

TEST(CifarTable, SaysWhatFailed) {
  Record record = trained("resnet50", "native", 1);
  record.epochs.clear();
  record.judgement = {Verdict::out_of_memory, "too large"};
  EXPECT_EQ(cifar_table({&record, 1}, {}).rows[0][3], "native: out_of_memory");
}

TEST(CifarTable, OrdersDevicesWithinAnEngineAndShowsTheirSpeedup) {
  std::vector<Record> ours = {trained("resnet50", "native", 2), trained("resnet50", "other", 1),
                              trained("resnet50", "native", 4), trained("resnet50", "native", 1)};
  ours[0].images_per_s = 180;
  ours[2].judgement.verdict = Verdict::oversubscribed;
  const Grid grid = cifar_table(ours, {});
  std::vector<std::string> shown;
  for (const auto& row : grid.rows) shown.push_back(row[3] + " " + row[4] + " x" + row[13]);
  EXPECT_EQ(shown, (std::vector<std::string>{"native 1 x1.00", "native 2 x1.80", "native: oversubscribed 4 x",
                                             "other 1 x1.00"}));
}

TEST(CifarTable, APublishedSpeedupMayComeFromTimes) {
  const std::vector<Record> ours = {trained("resnet50", "native", 2)};
  std::vector<Record> published = {trained("resnet50", "keras", 1), trained("resnet50", "keras", 2)};
  for (Record& record : published) record.reference = "keras-cifar10", record.images_per_s = {};
  published[0].seconds_per_epoch = 100;
  published[1].seconds_per_epoch = 625;
  published[1].corrected["seconds_per_epoch"] = 62.5;
  const Grid grid = cifar_table(ours, published);
  ASSERT_EQ(grid.rows.size(), 2u);
  EXPECT_EQ(grid.rows[0].back(), "");
  EXPECT_EQ(grid.rows[1].back(), "1.60");
}

TEST(CifarTable, OneDeviceAloneHasNoSpeedup) {
  const std::vector<Record> ours = {trained("resnet50", "native", 1)};
  EXPECT_EQ(cifar_table(ours, {}).columns.back().header, "Memory MiB");
}

}  // namespace
}  // namespace tacho
