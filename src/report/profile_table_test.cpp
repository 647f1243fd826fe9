#include "report/profile_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/json_values.h"
#include "report/example_profile.h"
#include "report/profile_rows.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

std::vector<std::string> lines_with(const std::string& text, std::string_view word) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.find(word) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> names(std::span<const ProfileRow> rows) {
  std::vector<std::string> result;
  for (const ProfileRow& row : rows) result.push_back(row.name);
  return result;
}

TEST(ProfileRows, RateALayerByItsMedian) {
  const Profile profile = example_profile();
  const ProfileRow row = layer_rows(profile)[0];
  EXPECT_DOUBLE_EQ(row.ms, 40);
  EXPECT_DOUBLE_EQ(*gflops(row), 50);
  EXPECT_DOUBLE_EQ(*percent_of_peak(row, profile.speed), 50);
  EXPECT_DOUBLE_EQ(*gigabytes_per_s(row), 2.5);
}

TEST(ProfileRows, RooflineIsTheSlowerOfPeakAndBandwidth) {
  const std::vector<ProfileRow> rows = layer_rows(example_profile());
  EXPECT_DOUBLE_EQ(*percent_of_roofline(rows[0]), 50);   // 20 ms of FLOP, 10 ms of bytes
  EXPECT_DOUBLE_EQ(*percent_of_roofline(rows[1]), 50);   // 5 ms of bytes
  EXPECT_DOUBLE_EQ(*percent_of_roofline(rows[2]), 200);  // 40 ms of FLOP in 20
}

TEST(ProfileRows, WhatIsNotKnownIsAbsent) {
  Profile profile = example_profile();
  EXPECT_FALSE(gflops(layer_rows(profile)[1]));
  EXPECT_FALSE(percent_of_peak(layer_rows(profile)[1], profile.speed));
  profile.speed = {};
  EXPECT_FALSE(percent_of_peak(layer_rows(profile)[0], profile.speed));
  EXPECT_FALSE(percent_of_roofline(layer_rows(profile)[0]));
  profile.layers[0].samples_ms = {0};
  EXPECT_FALSE(gflops(layer_rows(profile)[0]));
}

TEST(ProfileRows, AreSummedByOpAndKernelTheMostExpensiveFirst) {
  const std::vector<ProfileRow> kernels = kernel_rows(layer_rows(example_profile()));
  ASSERT_EQ(kernels.size(), 3u);
  EXPECT_EQ(kernels[0].kernel, "reorder + direct");
  EXPECT_EQ(kernels[0].layers, 2);
  EXPECT_DOUBLE_EQ(kernels[0].ms, 68);
  EXPECT_EQ(kernels[0].flop, 3'000'000'000);
  EXPECT_EQ(kernels[1].kernel, "winograd_3x3");
  EXPECT_EQ(kernels[2].op, "max_pool");
}

TEST(ProfileRows, TheMostExpensiveStayInOrderAndTheRestIsSummed) {
  const std::vector<ProfileRow> layers = layer_rows(example_profile());
  const std::vector<ProfileRow> rows = most_expensive(layers, 2);
  EXPECT_THAT(names(rows), ElementsAre("conv1", "conv3", "2 other layers"));
  EXPECT_DOUBLE_EQ(rows[2].ms, 30);
  EXPECT_DOUBLE_EQ(sum_ms(rows), sum_ms(layers));
  EXPECT_THAT(names(most_expensive(layers, 4)), ElementsAre("conv1", "pool", "conv2", "conv3"));
}

TEST(ProfileRows, LayersAreSummedPassByPass) {
  Profile profile = example_profile();
  profile.layers[1].samples_ms = {10, 100, 10};
  EXPECT_DOUBLE_EQ(sum_ms(layer_rows(profile)), 98);
  EXPECT_DOUBLE_EQ(layers_of_a_pass_ms(profile), 148);  // of 148, 188 and 97
}

TEST(ProfileTable, ShowsLayersKernelsAndTheSumBesideTheWhole) {
  const std::string text = format_profile(example_profile(), Format::md);
  EXPECT_THAT(
      lines_with(text, "conv1"),
      ElementsAre(MatchesRegex(R"(\| conv1 +\| convolution \| reorder \+ direct \| +40.0 \| +40.8 \| .*)")));
  EXPECT_THAT(lines_with(text, "reorder + direct"), testing::SizeIs(3));
  EXPECT_THAT(text, HasSubstr("FMA peak 100 GFLOP/s, memory bandwidth 10.0 GB/s with 2 threads"));
  EXPECT_THAT(text, HasSubstr("sum of the layers 98.00 ms, whole pass 100.0 ms, difference -2.0 %"));
}

TEST(ProfileTable, SaysWhyARooflineMayBeExceededOnlyWhereItIs) {
  Profile profile = example_profile();
  EXPECT_THAT(format_profile(profile, Format::table), HasSubstr("Winograd"));
  profile.layers[2].flop = 0;
  EXPECT_THAT(format_profile(profile, Format::table), Not(HasSubstr("Winograd")));
}

TEST(ProfileTable, PhasesAreAColumnInTraining) {
  Profile profile = example_profile();
  EXPECT_THAT(format_profile(profile, Format::md), Not(HasSubstr("| phase")));
  profile.pass.mode = "train";
  EXPECT_THAT(format_profile(profile, Format::md), HasSubstr("| forward | conv1"));
}

TEST(ProfileTable, TopLimitsTheLayersButNotTheKernels) {
  const std::string text = format_profile(example_profile(), Format::md, 1);
  EXPECT_THAT(text, HasSubstr("3 other layers"));
  EXPECT_THAT(text, Not(HasSubstr("conv2")));
  EXPECT_THAT(text, HasSubstr("winograd_3x3"));
}

TEST(ProfileTable, JsonIsOneObjectWithEverything) {
  const Json json = Json::parse(format_profile(example_profile(), Format::json, 1));
  EXPECT_EQ(json["case"]["model"], "resnet18");
  EXPECT_EQ(json["peak"]["fma_gflops"], 100);
  EXPECT_EQ(json["pass_ms"], 100);
  EXPECT_EQ(json["sum_ms"], 98);
  EXPECT_DOUBLE_EQ(json["difference_percent"].get<double>(), -2);
  ASSERT_EQ(json["layers"].size(), 4u);
  EXPECT_EQ(json["layers"][0]["samples_ms"], Json({90, 40, 39}));
  EXPECT_FALSE(json["layers"][1].contains("gflops"));
  EXPECT_EQ(json["kernels"][0]["layers"], 2);
  EXPECT_EQ(Json::parse(format_profile(example_profile(), Format::jsonl)), json);
}

TEST(ProfileTable, CsvHasALineALayer) {
  const std::string text = format_profile(example_profile(), Format::csv);
  EXPECT_THAT(text, testing::StartsWith("name,op,phase,kernel,median_ms,"));
  EXPECT_EQ(std::ranges::count(text, '\n'), 5);
}

}  // namespace
}  // namespace tacho
