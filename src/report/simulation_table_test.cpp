#include "report/simulation_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_values.h"
#include "report/example_profile.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// On 4 threads, measured with 2: one step that is split well, one that is not, one of the library's.
Profile simulated_profile() {
  Profile profile = example_profile();
  profile.pass.threads = 2;
  profile.simulation = Simulation{
      .threads = 4,
      .steps = {
          {.layer = "conv1",
           .phase = "forward",
           .kernel = "direct",
           .samples_ms = {40, 41, 39},
           .split = SimulatedSplit{.loops = {{8, 1}, {36, 3}}, .largest_share = 0.25, .measured_share = 0.5}},
          {.layer = "pool",
           .phase = "forward",
           .kernel = "max_pool",
           .samples_ms = {20},
           .split = SimulatedSplit{.loops = {{1, 1}}, .largest_share = 1, .measured_share = 1}},
          {.layer = "fc", .phase = "forward", .kernel = "gemm:jit", .samples_ms = {40}, .split = {}}}};
  return profile;
}

TEST(SimulationTable, AnEfficiencyIsTheIdealShareOverTheLargest) {
  EXPECT_DOUBLE_EQ(efficiency({.largest_share = 0.25}, 4), 1);
  EXPECT_DOUBLE_EQ(efficiency({.largest_share = 1}, 4), 0.25);
}

TEST(SimulationTable, SumsUpWhatSplitsAllow) {
  const SimulationSummary summary = summary_of(simulated_profile());
  EXPECT_EQ(summary.own_steps, 2);
  EXPECT_DOUBLE_EQ(summary.own_percent, 60);
  EXPECT_EQ(summary.weak_steps, 1);
  EXPECT_DOUBLE_EQ(summary.weak_percent, 20);
  EXPECT_EQ(summary.onednn_steps, 1);
  EXPECT_DOUBLE_EQ(summary.onednn_percent, 40);
  // One thread takes 80 + 20 ms, four take 20 + 20; the library's 80 become 20.
  EXPECT_DOUBLE_EQ(*summary.own_speedup, 2.5);
  EXPECT_DOUBLE_EQ(summary.pass_speedup, 3);
}

TEST(SimulationTable, ShowsItemsAndSharesAndNoNumberOfOneDnns) {
  const std::string text = format_simulation(simulated_profile(), Format::md);
  EXPECT_THAT(text, HasSubstr("simulated for 4 threads, none of which ran"));
  EXPECT_THAT(text, HasSubstr("the ideal share is 25.0 %"));
  EXPECT_THAT(text, HasSubstr("|   8 + 3 x 36 |            25.0 |       1.00 |"));
  EXPECT_THAT(text, HasSubstr("| oneDNN's own |                 |            |"));
  EXPECT_THAT(text, HasSubstr("our 2 steps, 60.0 % of the time: by their splits alone at most 2.5 times"));
  EXPECT_THAT(text, HasSubstr("1 of them with an efficiency below 0.5: 20.0 % of the time"));
  EXPECT_THAT(text, HasSubstr("oneDNN's own 1 step, 40.0 % of the time"));
}

TEST(SimulationTable, TopSumsUpTheOtherSteps) {
  const std::string text = format_simulation(simulated_profile(), Format::md, 2);
  EXPECT_THAT(text, HasSubstr("| 1 other step |"));
  EXPECT_THAT(text, Not(HasSubstr("max_pool")));
}

TEST(SimulationTable, JsonHasEveryStepAndTheSummary) {
  const Json json = Json::parse(format_simulation(simulated_profile(), Format::json));
  EXPECT_EQ(json["threads_simulated"], 4);
  ASSERT_EQ(json["steps"].size(), 3u);
  EXPECT_EQ(json["steps"][0]["loops"][1], Json({{"items", 36}, {"rounds", 3}}));
  EXPECT_EQ(json["steps"][1]["efficiency"], 0.25);
  EXPECT_EQ(json["steps"][2]["onednn"], true);
  EXPECT_FALSE(json["steps"][2].contains("efficiency"));
  EXPECT_EQ(json["own_speedup_at_most"], 2.5);
}

TEST(SimulationTable, CsvHasALineAStep) {
  const std::string text = format_simulation(simulated_profile(), Format::csv);
  EXPECT_THAT(text, testing::StartsWith("layer,phase,kernel,median_ms,onednn,"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 4);
}

}  // namespace
}  // namespace tacho
