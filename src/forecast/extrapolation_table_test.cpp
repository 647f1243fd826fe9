#include "forecast/extrapolation_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "results/selection.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

const std::vector<int> kFrom = {1, 8}, kDevices = {16, 256};

std::string refusal(std::string_view name) {
  try {
    format_extrapolation(select_records(name, {}, "").records, kFrom, kDevices, Format::md);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(ExtrapolationTable, SetsPredictionsBesideWhatWasPublished) {
  const std::vector<Record> records = select_records("pytorch-throughput", {}, "").records;
  const Json rows = Json::parse(format_extrapolation(records, kFrom, kDevices, Format::json));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["published"], 608);
  EXPECT_NEAR(rows[0]["error_percent"], 100 * (rows[0]["predicted"].get<double>() / 608 - 1), 1e-9);
  EXPECT_FALSE(rows[1].contains("published"));
  EXPECT_EQ(rows[1]["verdict"], "simulated");
  const std::string text = format_extrapolation(records, kFrom, kDevices, Format::md);
  EXPECT_THAT(text, HasSubstr("fitted to 1, 8 devices"));
  EXPECT_THAT(text, HasSubstr("published images/s"));
}

TEST(ExtrapolationTable, RefusesNumbersOfDevicesThatNoCaseHasAndNamesThoseThereAre) {
  EXPECT_THAT(refusal("embl-gpu"), HasSubstr("there are 1,2,4"));
  EXPECT_THAT(refusal("dgx1-v100"), HasSubstr("several numbers of devices"));
}

}  // namespace
}  // namespace tacho
