#include "results/references.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace tacho {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSet = R"({
  "schema": 1, "name": "lab", "title": "A lab", "source": "its report", "protocol": "once",
  "tables": [
    {"title": "times", "shared": {"model": "unet3d", "mode": "train", "devices": 1},
     "columns": ["system", "seconds"], "rows": [["A", 1754.2], ["B", 2053.8]]},
    {"title": "rates", "known_error": "10x", "shared": {"model": "unet3d", "mode": "train", "devices": 1},
     "columns": ["system", "iterations_per_min", "extrapolated.8.1_tvox_h", "corrected.8.1_tvox_h"],
     "rows": [["B", 29.4, null, null], ["A", 34.2, 25.7, 255.7]]}
  ]})";

std::string refusal(std::string text) {
  try {
    parse_reference_set(text, "lab.json");
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string with(std::string from, const std::string& to) {
  std::string text = kSet;
  return text.replace(text.find(from), from.size(), to);
}

TEST(References, RowsOfSeveralTablesBecomeOneRecordAMeasurement) {
  const ReferenceSet set = parse_reference_set(kSet, "lab.json");
  ASSERT_EQ(set.records.size(), 2u);
  const Record& a = set.records[0];
  EXPECT_EQ(a.system.name, "A");
  EXPECT_DOUBLE_EQ(a.seconds.value(), 1754.2);
  EXPECT_DOUBLE_EQ(a.iterations_per_min.value(), 34.2);
  EXPECT_DOUBLE_EQ(a.extrapolated.at("8.1_tvox_h"), 25.7);
  EXPECT_DOUBLE_EQ(a.corrected.at("8.1_tvox_h"), 255.7);
  EXPECT_EQ(a.known_error, "10x");
  EXPECT_EQ(a.reference, "lab");
  EXPECT_EQ(a.source, "its report");
  EXPECT_DOUBLE_EQ(set.records[1].iterations_per_min.value(), 29.4);
}

TEST(References, RefuseWhatIsNoField) {
  EXPECT_THAT(refusal(with("\"seconds\"", "\"secnods\"")), HasSubstr("lab.json: 'secnods' is no field"));
  EXPECT_THAT(refusal(with("1754.2", "\"fast\"")), HasSubstr("must be a number"));
  EXPECT_THAT(refusal(with("[\"A\", 1754.2]", "[\"A\"]")), HasSubstr("columns"));
  EXPECT_THAT(refusal(with("\"schema\": 1", "\"schema\": 2")), HasSubstr("schema"));
  EXPECT_THAT(refusal("{"), HasSubstr("not JSON"));
}

TEST(References, ThoseOfTheProgramAllLoad) {
  const auto& sets = reference_sets();
  ASSERT_EQ(sets.size(), 7u);
  for (const ReferenceSet& set : sets) {
    EXPECT_FALSE(set.records.empty()) << set.name;
    for (const Record& record : set.records) {
      EXPECT_FALSE(record.system.name.empty()) << record.id;
      EXPECT_FALSE(record.model.empty()) << record.id;
    }
  }
}

TEST(References, ThePublishedV100RowIsThere) {
  const std::vector<Record> records = reference_records();
  const auto found = std::ranges::find_if(records, [](const Record& r) {
    return r.reference == "dgx1-v100" && r.model == "densenet121" && r.mode == "infer";
  });
  ASSERT_NE(found, records.end());
  EXPECT_DOUBLE_EQ(found->mean_ms.value(), 20.289);
}

}  // namespace
}  // namespace tacho
