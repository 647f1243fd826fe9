#include "session/bench_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "capture/resume.h"
#include "session/sweep.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

constexpr auto kNoNote = [](const std::string&) {};

std::vector<Case> null_cells(const std::string& batches) {
  return expand({{"model", "squeezenet1_1"},
                 {"engine", "null"},
                 {"image", "64"},
                 {"batch", batches},
                 {"warmup", "1"},
                 {"repeat", "2"}},
                1);
}

class Items : public testing::Test {
 protected:
  std::vector<Record> run(WorkItems items) {
    std::vector<Record> records;
    World world(alone(), "test");
    const ItemContext context = {
        .world = world,
        .system = system_,
        .peaks = {},
        .kernel_cache = {},
        .progress = [&](const std::string& where, std::optional<double>) { shown_.push_back(where); },
        .say = kNoNote,
        .note = kNoNote,
        .should_stop = [&] { return stopped_; }};
    for (const auto& item : items) {
      item->check(kNoNote);
      item->run(context, [&](Record record) { records.push_back(std::move(record)); });
    }
    return records;
  }

  SystemInfo system_ = {.name = "box", .cores = 1};
  std::vector<std::string> shown_;
  bool stopped_ = false;
};

TEST_F(Items, ACellRunsToTheRecordThatItDescribed) {
  WorkItems items = bench_items(null_cells("2"));
  const Record described = items.front()->description().value();
  const std::vector<Record> records = run(std::move(items));
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(is_record_of(records[0], described));
  EXPECT_EQ(records[0].samples_ms.size(), 2u);
  EXPECT_EQ(records[0].system.name, "box");
}

TEST_F(Items, ACellSaysWhereItIs) {
  run(bench_items(null_cells("2")));
  EXPECT_THAT(shown_, testing::ElementsAre("squeezenet1_1 infer batch 2: pass 1/3",
                                           "squeezenet1_1 infer batch 2: pass 2/3",
                                           "squeezenet1_1 infer batch 2: pass 3/3"));
}

TEST_F(Items, CellsInTurnsShareAMarkAndCannotBeContinued) {
  WorkItems items = turns_item(null_cells("1,2"));
  EXPECT_FALSE(items.front()->description());
  const std::vector<Record> records = run(std::move(items));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_FALSE(records[0].interleaved.empty());
  EXPECT_EQ(records[0].interleaved, records[1].interleaved);
}

std::vector<Case> cells_of(const std::string& engines) {
  return expand({{"model", "squeezenet1_1"},
                 {"engine", engines},
                 {"image", "64"},
                 {"batch", "1,2"},
                 {"warmup", "0"},
                 {"repeat", "1"}},
                1);
}

TEST_F(Items, EnginesThatDoTheSameWorkTakeTurns) {
  EXPECT_TRUE(compare_means(cells_of("native,null,reference")));
  const WorkItems items = items_in_turns(cells_of("native,null,reference"));
  std::vector<bool> alone;
  for (const auto& item : items) alone.push_back(item->description().has_value());
  EXPECT_THAT(alone, testing::UnorderedElementsAre(false, false, true, true));
}

TEST_F(Items, AnEngineThatComputesNothingIsNotCompared) {
  EXPECT_FALSE(compare_means(cells_of("null,reference")));
  EXPECT_FALSE(compare_means(cells_of("native")));
}

TEST_F(Items, DevicesOfAnEngineTakeTurnsToo) {
  std::vector<Case> cells = cells_of("reference");
  for (const Case& cell : cells_of("reference")) cells.emplace_back(cell).execution.device = "cuda:0";
  EXPECT_TRUE(compare_means(cells));
  for (const auto& item : items_in_turns(cells)) EXPECT_FALSE(item->description());
}

TEST_F(Items, WhatWasStoppedHasNoRecord) {
  stopped_ = true;
  EXPECT_TRUE(run(bench_items(null_cells("1"))).empty());
  EXPECT_TRUE(run(turns_item(null_cells("1,2"))).empty());
}

TEST_F(Items, AnEngineThatComputesNothingNeedsNoPeak) {
  EXPECT_TRUE(bench_items(null_cells("1")).front()->peaks_needed().empty());
  std::vector<Case> cells = null_cells("1,2");
  for (Case& cell : cells) cell.execution.engine = "native";
  EXPECT_EQ(turns_item(cells).front()->peaks_needed(), (std::set<DevicesAtWork>{DeviceThreads{1, 1}}));
}

TEST_F(Items, ACellOnGpusNeedsTheirPeakInItsPrecision) {
  std::vector<Case> cells = null_cells("1,2");
  for (Case& cell : cells) cell.execution = {.engine = "native", .device = "cuda", .devices = 2};
  cells[1].execution.precision = "bf16";
  EXPECT_EQ(turns_item(cells).front()->peaks_needed(),
            (std::set<DevicesAtWork>{GpusAtWork{2, "native", "cuda", "f32"},
                                     GpusAtWork{2, "native", "cuda", "bf16"}}));
}

TEST_F(Items, AProfileNeedsAnEngineThatTellsItsSteps) {
  std::optional<Profile> profile;
  EXPECT_THAT([&] { run(profile_item(null_cells("1").front(), {}, profile)); },
              testing::ThrowsMessage<UserError>(HasSubstr("does not tell its steps")));
}

}  // namespace
}  // namespace tacho
