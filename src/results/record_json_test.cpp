#include "results/record_json.h"

#include <gtest/gtest.h>

#include "base/json_values.h"
#include "results/example_record.h"
#include "results/record_complaint.h"

namespace tacho {
namespace {

TEST(RecordJson, ComesBackAsItWent) {
  const Json json = to_json(example_record());
  EXPECT_EQ(to_json(record_from_json(json)), json);
}

TEST(RecordJson, RefusesANewerSchema) {
  Json json = to_json(example_record());
  json["schema"] = Record::kSchema + 1;
  EXPECT_NE(complaint_about(json).find("schema 2"), std::string::npos);
}

TEST(RecordJson, RefusesWhatIsNoRecord) {
  EXPECT_NE(complaint_about(Json::array()), "no complaint");
  EXPECT_NE(complaint_about({{"name", "somebody else's"}}), "no complaint");
}

TEST(RecordJson, NamesTheFieldThatIsMissingOrOfAnotherType) {
  Json json = to_json(example_record());
  json.erase("model");
  EXPECT_EQ(complaint_about(json), "has no field 'model'");
  json = to_json(example_record());
  json["batch"] = 1.5;
  EXPECT_EQ(complaint_about(json), "field 'batch' must be a whole number, not 1.5");
  json = to_json(example_record());
  json["system"]["cores"] = "two";
  EXPECT_NE(complaint_about(json).find("'cores'"), std::string::npos);
}

// With something behind the known fields of each object that a record is made of.
Json record_of_a_newer_program() {
  Record record = example_record();
  record.system.gpus = {{.name = "Fast 1",
                         .driver = "550.1",
                         .memory_mib = 16384,
                         .clock_mhz = 1980,
                         .power_limit_watts = 300,
                         .bus_id = "0000:65:00.0",
                         .clock_now_mhz = 1410,
                         .power_watts = 87.5}};
  record.system.engine_details = {
      {.name = "torch", .instruction_set = "AVX2", .threads = 2, .precisions = {{"cpu", {"f32", "bf16"}}}}};
  record.system.speeds = {{.threads = 2, .fma_gflops = 80, .bandwidth_gbs = 30}};
  record.system.gpu_speeds = {
      {.device = "cuda", .devices = 2, .precision = "bf16", .product_rows = 8192, .product_gflops = 4000}};
  record.epochs = {{.steps = 3, .seconds = 1.5, .loss = 0.25}};
  Json json = to_json(record);
  for (Json* object :
       {&json["system"]["speeds"][0], &json["system"]["gpu_speeds"][0], &json["system"]["gpus"][0],
        &json["system"]["engine_details"][0], &json["system"], &json["epochs"][0], &json}) {
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
  EXPECT_NE(complaint_about(json).find("was changed"), std::string::npos);
}

TEST(RecordJson, TheThroughputOfATotalBatchFollowsFromIt) {
  Json json = to_json(example_record());
  json.erase("batch");
  json["devices"] = 3;
  json["batch_total"] = 16;
  EXPECT_EQ(complaint_about(json), "no complaint");
  json["batch_total"] = 32;
  EXPECT_NE(complaint_about(json).find("images_per_s does not follow"), std::string::npos);
}

}  // namespace
}  // namespace tacho
