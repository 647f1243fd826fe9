#include "report/zoo_table.h"

#include <gtest/gtest.h>

namespace tacho {
namespace {

Record training(std::string model, double forward, double backward, double update) {
  return {.model = std::move(model),
          .mode = "train",
          .median_ms = forward + backward + update,
          .forward_ms = forward,
          .backward_ms = backward,
          .update_ms = update};
}

Record published(std::string model, std::string mode, double ms) {
  return {.model = std::move(model), .mode = std::move(mode), .mean_ms = ms, .system = {.name = "V100"}};
}

const std::vector<Record> kRecords = {
    training("slow", 100, 300, 100),
    training("quick", 10, 30, 500),
    {.model = "quick", .mode = "infer", .median_ms = 8, .judgement = {Verdict::noisy, ""}},
    {.model = "slow", .mode = "infer", .judgement = {Verdict::out_of_memory, "large"}},
};
const std::vector<Record> kPublished = {published("quick", "train", 20.5), published("slow", "train", 40),
                                        published("quick", "infer", 2)};

TEST(ZooTable, SortsByTrainingTimeWithoutTheUpdate) {
  const Grid grid = zoo_table(kRecords, kPublished);
  ASSERT_EQ(grid.columns.size(), 3u);
  EXPECT_EQ(grid.columns[1].header, "quick");
  EXPECT_EQ(grid.columns[2].header, "slow");
  EXPECT_EQ(grid.rows[0], (std::vector<std::string>{"Training", "40.00ms", "400.0ms"}));
}

TEST(ZooTable, ShowsThePublishedRowAndTheRatio) {
  const Grid grid = zoo_table(kRecords, kPublished);
  EXPECT_EQ(grid.rows[1], (std::vector<std::string>{"Training, V100", "20.5ms", "40ms"}));
  EXPECT_EQ(grid.rows[2], (std::vector<std::string>{"times that of V100", "1.95", "10.0"}));
}

TEST(ZooTable, SaysWhatCouldNotRun) {
  const Grid grid = zoo_table(kRecords, kPublished);
  EXPECT_EQ(grid.rows[3], (std::vector<std::string>{"Inference", "~8.000ms", "out_of_memory"}));
  EXPECT_EQ(grid.rows[5], (std::vector<std::string>{"times that of V100", "4.00", ""}));
}

}  // namespace
}  // namespace tacho
