#include "results/record_json.h"

#include <gtest/gtest.h>

#include "results/example_record.h"

namespace tacho {
namespace {

std::string refusal(const Json& json) {
  try {
    record_from_json(json);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(RecordJson, ComesBackAsItWent) {
  const Json json = to_json(example_record());
  EXPECT_EQ(to_json(record_from_json(json)), json);
}

TEST(RecordJson, RefusesANewerSchema) {
  Json json = to_json(example_record());
  json["schema"] = Record::kSchema + 1;
  EXPECT_NE(refusal(json).find("schema 2"), std::string::npos);
}

TEST(RecordJson, RefusesWhatIsNoRecord) {
  EXPECT_NE(refusal(Json::array()), "");
  EXPECT_NE(refusal({{"name", "somebody else's"}}), "");
}

TEST(RecordJson, NamesTheFieldThatIsMissingUnknownOrOfAnotherType) {
  Json json = to_json(example_record());
  json.erase("model");
  EXPECT_EQ(refusal(json), "has no field 'model'");
  json = to_json(example_record());
  json["colour"] = "red";
  EXPECT_EQ(refusal(json), "has the unknown field 'colour'");
  json = to_json(example_record());
  json["batch"] = 1.5;
  EXPECT_EQ(refusal(json), "field 'batch' must be a whole number, not 1.5");
  json = to_json(example_record());
  json["system"]["cores"] = "two";
  EXPECT_NE(refusal(json).find("'cores'"), std::string::npos);
}

TEST(RecordJson, RefusesFiguresThatDoNotFollowFromTheirSamples) {
  Json json = to_json(example_record());
  json["median_ms"] = 50.0;
  EXPECT_NE(refusal(json).find("was changed"), std::string::npos);
}

TEST(ParseRecords, TakesAnArrayAndOneObjectALine) {
  const std::string one = to_json(example_record("a")).dump(), two = to_json(example_record("b")).dump();
  EXPECT_EQ(parse_records("[" + one + "," + two + "]", "f").size(), 2u);
  EXPECT_EQ(parse_records(one + "\n" + two + "\n", "f").size(), 2u);
}

TEST(ParseRecords, RefusesATextThatIsCutOffAnywhere) {
  const std::string whole = "[" + to_json(example_record()).dump() + "]";
  for (size_t length = 1; length < whole.size(); ++length) {
    EXPECT_THROW(parse_records(whole.substr(0, length), "f"), UserError) << length;
  }
}

}  // namespace
}  // namespace tacho
