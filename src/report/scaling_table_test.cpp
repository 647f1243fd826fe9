#include "report/scaling_table.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "results/references.h"
#include "results/selection.h"

namespace tacho {
namespace {

Record measured(int devices, double forward_ms, double backward_ms, double update_ms = 10) {
  Record record = {.kind = "bench", .model = "resnet50", .mode = "train", .engine = "native", .batch = 32};
  record.devices = devices;
  record.threads = 1;
  record.parallel = devices > 1 ? "allreduce" : "";
  record.forward_ms = forward_ms;
  record.backward_ms = backward_ms;
  record.update_ms = update_ms;
  record.median_ms = forward_ms + backward_ms + update_ms;
  record.images_per_s = 1e3 * 32 * devices / *record.median_ms;
  record.system.name = "here";
  return record;
}

// The cells below a header, from the top.
std::vector<std::string> column(const Grid& grid, const std::string& header) {
  const auto found = std::ranges::find(grid.columns, header, &GridColumn::header);
  std::vector<std::string> cells;
  if (found == grid.columns.end()) return {"no such column"};
  for (const auto& row : grid.rows) cells.push_back(row.at(found - grid.columns.begin()));
  return cells;
}

using Cells = std::vector<std::string>;

TEST(ScalingTable, ShowsThroughputAndSpeedupOfEachPhase) {
  const std::vector<Record> records = {measured(2, 40, 70), measured(1, 30, 60)};
  const Grid grid = scaling_table(records, {});
  EXPECT_EQ(column(grid, "Devices"), (Cells{"1", "2"}));
  EXPECT_EQ(column(grid, "Forward images/s"), (Cells{"1067", "1600"}));
  EXPECT_EQ(column(grid, "Backward images/s"), (Cells{"457.1", "800.0"}));
  EXPECT_EQ(column(grid, "Images/s"), (Cells{"320.0", "533.3"}));
  EXPECT_EQ(column(grid, "Forward speed-up"), (Cells{"1.00", "1.50"}));
  EXPECT_EQ(column(grid, "Backward speed-up"), (Cells{"1.00", "1.75"}));
  EXPECT_EQ(column(grid, "Speed-up"), (Cells{"1.00", "1.67"}));
  EXPECT_EQ(column(grid, "Efficiency %"), (Cells{"100", "83.3"}));
}

TEST(ScalingTable, OversubscribedRowsAreNotedAndHaveNoSpeedup) {
  std::vector<Record> records = {measured(1, 30, 60), measured(2, 30, 60)};
  records[1].judgement.verdict = Verdict::oversubscribed;
  const Grid grid = scaling_table(records, {});
  EXPECT_EQ(column(grid, "Note"), (Cells{"", "oversubscribed"}));
  EXPECT_EQ(column(grid, "Images/s"), (Cells{"320.0", "640.0"}));
  for (const char* header : {"Forward speed-up", "Backward speed-up", "Speed-up", "Efficiency %"})
    EXPECT_EQ(column(grid, header).at(1), "") << header;
}

TEST(ScalingTable, LostTimeStandsByItsPartsTheLargestFirst) {
  std::vector<Record> records = {measured(1, 30, 60), measured(2, 30, 60), measured(4, 30, 60)};
  records[1].lost_ms = {{"all-reduce", 1}, {"wait", 2}};
  records[2].lost_ms = {{"wait", 5.5}, {"forward", 0.25}};
  const Grid grid = scaling_table(records, {});
  EXPECT_EQ(column(grid, "Lost ms"), (Cells{"", "3.00", "5.75"}));
  EXPECT_EQ(column(grid, "of it wait"), (Cells{"", "2.00", "5.50"}));
  EXPECT_EQ(column(grid, "of it all-reduce"), (Cells{"", "1.00", ""}));
  EXPECT_EQ(grid.columns.at(grid.columns.size() - 3).header, "of it wait");
  EXPECT_EQ(grid.columns.back().header, "of it forward");
}

TEST(ScalingTable, SimulatedRowsComeBehindMeasuredOnes) {
  std::vector<Record> records = {measured(2, 30, 60), measured(1, 30, 60), measured(8, 30, 60)};
  records[0].judgement.verdict = Verdict::simulated;
  const Grid grid = scaling_table(records, {});
  EXPECT_EQ(column(grid, "Devices"), (Cells{"1", "8", "2"}));
  EXPECT_EQ(column(grid, "Note").at(2), "simulated");
  EXPECT_EQ(column(grid, "Speed-up").at(2), "2.00");
}

TEST(ScalingTable, ThePublishedRowsStandBelowDigitForDigit) {
  const std::vector<Record> ours = {measured(1, 30, 60)};
  const std::vector<Record> published = select_records("reference:pytorch-throughput", {}, "").records;
  const Grid grid = scaling_table(ours, published);
  EXPECT_EQ(column(grid, "Devices"), (Cells{"1", "1", "2", "4", "8", "16", "32", "64", "128"}));
  EXPECT_EQ(column(grid, "Images/s").at(2), "77.65");
  EXPECT_EQ(column(grid, "Forward images/s").at(2), "195.89");
  EXPECT_EQ(column(grid, "Speed-up").at(5), "14.65");
  EXPECT_EQ(column(grid, "Forward speed-up").at(2), "1.19");
  EXPECT_EQ(column(grid, "Nodes").at(8), "16");
  EXPECT_EQ(column(grid, "Note").at(4), "known error 1");
  EXPECT_EQ(column(grid, "Note").at(5), "known error 2");
}

TEST(ScalingTable, EveryRowIsAsLongAsTheHeader) {
  std::vector<Record> records = {measured(1, 30, 60), measured(2, 30, 60)};
  records[1].lost_ms = {{"wait", 2}};
  const Grid grid = scaling_table(records, select_records("reference:pytorch-throughput", {}, "").records);
  for (const auto& row : grid.rows) EXPECT_EQ(row.size(), grid.columns.size());
}

}  // namespace
}  // namespace tacho
