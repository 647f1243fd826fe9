#include "results/record_json.h"

#include <gtest/gtest.h>

#include "base/json_values.h"
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

TEST(RecordJson, NamesTheFieldThatIsMissingOrOfAnotherType) {
  Json json = to_json(example_record());
  json.erase("model");
  EXPECT_EQ(refusal(json), "has no field 'model'");
  json = to_json(example_record());
  json["batch"] = 1.5;
  EXPECT_EQ(refusal(json), "field 'batch' must be a whole number, not 1.5");
  json = to_json(example_record());
  json["system"]["cores"] = "two";
  EXPECT_NE(refusal(json).find("'cores'"), std::string::npos);
}

// With something behind the known fields of each object that a record is made of.
Json record_of_a_newer_program() {
  Record record = example_record();
  record.system.speeds = {{.threads = 2, .fma_gflops = 80, .bandwidth_gbs = 30}};
  record.epochs = {{.steps = 3, .seconds = 1.5, .loss = 0.25}};
  Json json = to_json(record);
  for (Json* object : {&json["system"]["speeds"][0], &json["system"], &json["epochs"][0], &json}) {
    (*object)["zeal"] = {{"b", 1}, {"a", {1.5, "x", nullptr}}};
    (*object)["colour"] = "red";
    (*object)["nothing"] = nullptr;
  }
  return json;
}

TEST(RecordJson, CarriesWhatItHasNoNameForInItsOrder) {
  const Json json = record_of_a_newer_program();
  EXPECT_EQ(to_json(record_from_json(json)).dump(), json.dump());
}

TEST(RecordJson, CarriesAVerdictItDoesNotKnowAndTrustsNoFigureOfIt) {
  Json json = to_json(example_record());
  json["verdict"] = "dreamt";
  const Record record = record_from_json(json);
  EXPECT_EQ(to_json(record), json);
  EXPECT_FALSE(has_figures(record.judgement));
}

TEST(RecordJson, AddsNothingToAnEpochThatKnowsLess) {
  Json json = to_json(example_record());
  json["epochs"] = {{{"seconds", 1.5}, {"loss", 0.25}}};
  EXPECT_EQ(to_json(record_from_json(json))["epochs"], json["epochs"]);
}

TEST(RecordJson, RefusesFiguresThatDoNotFollowFromTheirSamples) {
  Json json = to_json(example_record());
  json["median_ms"] = 50.0;
  EXPECT_NE(refusal(json).find("was changed"), std::string::npos);
}

TEST(RecordJson, TheThroughputOfATotalBatchFollowsFromIt) {
  Json json = to_json(example_record());
  json.erase("batch");
  json["devices"] = 3;
  json["batch_total"] = 16;
  EXPECT_EQ(refusal(json), "");
  json["batch_total"] = 32;
  EXPECT_NE(refusal(json).find("images_per_s does not follow"), std::string::npos);
}

}  // namespace
}  // namespace tacho
