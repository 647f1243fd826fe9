#include "report/grid_table.h"

#include <gtest/gtest.h>

#include "results/selection.h"

namespace tacho {
namespace {

using Row = std::vector<std::string>;

Record cell(int devices, int64_t total, double ms) {
  Record record = {.kind = "bench", .model = "resnet18", .mode = "infer", .engine = "native"};
  record.devices = devices;
  record.parallel = "scatter";
  (total % devices == 0 ? record.batch : record.batch_total) = total % devices == 0 ? total / devices : total;
  record.median_ms = ms;
  record.images_per_s = 1e3 * static_cast<double>(total) / ms;
  record.system.name = "here";
  return record;
}

TEST(GridTable, HasARowForEachNumberOfDevicesAndAColumnForEachTotalBatch) {
  const std::vector<Record> records = {cell(3, 32, 7), cell(1, 16, 10), cell(1, 32, 20.125), cell(3, 16, 5)};
  const Grid grid = grid_table(records, {});
  ASSERT_EQ(grid.columns.size(), 6u);
  EXPECT_EQ(grid.columns[4].header, "16");
  EXPECT_EQ(grid.rows, (std::vector<Row>{{"resnet18", "here", "native", "1", "10.00", "20.12"},
                                         {"resnet18", "here", "native", "3", "5.000", "7.000"}}));
}

TEST(GridTable, CellsSayWhatFailedWhatIsDoubtfulAndWhatIsMissing) {
  std::vector<Record> records = {cell(1, 16, 10), cell(1, 32, 20), cell(2, 16, 5)};
  records[0].judgement.verdict = Verdict::oversubscribed;
  records[1].median_ms = {};
  records[1].judgement.verdict = Verdict::out_of_memory;
  const Grid grid = grid_table(records, {});
  EXPECT_EQ(grid.rows[0], (Row{"resnet18", "here", "native", "1", "~10.00", "out_of_memory"}));
  EXPECT_EQ(grid.rows[1], (Row{"resnet18", "here", "native", "2", "5.000", ""}));
}

TEST(GridTable, OfACellThatWasMeasuredAgainTheLastCounts) {
  const std::vector<Record> records = {cell(1, 16, 10), cell(1, 16, 11)};
  EXPECT_EQ(grid_table(records, {}).rows, (std::vector<Row>{{"resnet18", "here", "native", "1", "11.00"}}));
}

TEST(GridTable, ThePublishedGridStandsBelowWithItsNetwork) {
  const std::vector<Record> records = {cell(1, 16, 10)};
  const std::vector<Record> published =
      select_records("reference:dgx-station-grid/precision=f32", {}, "").records;
  const Grid grid = grid_table(records, published);
  ASSERT_EQ(grid.rows.size(), 5u);
  EXPECT_EQ(grid.rows[0], (Row{"resnet18", "here", "native", "1", "10.00", "", "", ""}));
  EXPECT_EQ(grid.rows[3],
            (Row{"resnet50", "DGX Station V100", "pytorch", "3", "32.533", "32.719", "35.263", "50.376"}));
}

TEST(GridPartsTable, ShowsWhereTheTimeOfACellWent) {
  std::vector<Record> records = {cell(2, 16, 8), cell(1, 16, 10), cell(1, 32, 20)};
  records[0].scatter_ms = 1, records[0].forward_ms = 5, records[0].wait_ms = 1.5, records[0].gather_ms = 0.25;
  records[0].bytes_moved = 5 << 20;
  const Grid grid = grid_parts_table(records);
  ASSERT_EQ(grid.rows.size(), 3u);
  EXPECT_EQ(grid.rows[2],
            (Row{"2", "16", "1.00", "5.00", "1.50", "0.250", "7.75", "8.00", "5.00", "1.25", ""}));
  EXPECT_EQ(grid.rows[1], (Row{"1", "32", "", "", "", "", "", "20.0", "", "1.00", ""}));
  EXPECT_EQ(grid.rows[0].size(), grid.columns.size());
}

TEST(GridPartsTable, AnOversubscribedCellIsNotedAndHasNoSpeedup) {
  std::vector<Record> records = {cell(1, 16, 10), cell(2, 16, 8)};
  records[1].judgement.verdict = Verdict::oversubscribed;
  const Grid grid = grid_parts_table(records);
  EXPECT_EQ(grid.rows[1], (Row{"2", "16", "", "", "", "", "", "8.00", "", "", "oversubscribed"}));
}

}  // namespace
}  // namespace tacho
