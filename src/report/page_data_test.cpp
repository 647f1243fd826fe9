#include "report/page_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json_values.h"
#include "report/pairing.h"
#include "results/example_record.h"
#include "results/fields.h"
#include "results/references.h"

namespace tacho {
namespace {

Record measured_on(std::string id, std::string machine, std::string model = "resnet18") {
  Record record = example_record(std::move(id));
  record.model = std::move(model);
  record.system.name = record.system.machine_id = std::move(machine);
  return record;
}

Json data_of(const std::vector<Record>& records) {
  return page_data(records, {.generated = "", .version = "", .command = "", .machine = "here"});
}

// Of each record one entry of its place.
std::vector<Json> places(const Json& data, size_t entry) {
  std::vector<Json> found;
  for (const Json& place : data["places"]) found.push_back(place[entry]);
  return found;
}

TEST(PageData, TellsEveryFieldWithItsRole) {
  const Json list = data_of({})["fields"];
  ASSERT_EQ(list.size(), fields().size());
  for (const Json& field : list) {
    if (field["name"] != "kernel") continue;
    EXPECT_EQ(field["role"], "means");
    EXPECT_EQ(field["column"], "present");
    EXPECT_EQ(field["header"], "kernel");
  }
}

TEST(PageData, MachinesPublishedSystemsAndEnginesAreSystemsOfTheirOwn) {
  std::vector<Record> records = {measured_on("1", "here"), measured_on("2", "there"),
                                 measured_on("3", "here"), measured_on("4", "here"),
                                 measured_on("5", "here")};
  records[2].engine = "reference";
  records[3].reference = "a set";
  EXPECT_EQ(places(data_of(records), 0), (std::vector<Json>{0, 1, 2, 3, 0}));
}

TEST(PageData, AnOlderRecordWithoutAMachineBelongsToTheOneOfItsName) {
  std::vector<Record> records = {measured_on("1", "here"), measured_on("2", "here")};
  records[0].system.machine_id.clear();
  EXPECT_EQ(places(data_of(records), 0), (std::vector<Json>{0, 0}));
}

TEST(PageData, OnlyTheLatestOfACaseIsMarked) {
  std::vector<Record> records(4, measured_on("1", "here"));
  records[1].kernel = "winograd";
  records[2].memory = "low";
  const Json data = data_of(records);
  EXPECT_EQ(places(data, 1), (std::vector<Json>{0, 1, 2, 0}));
  EXPECT_EQ(places(data, 2), (std::vector<Json>{0, 1, 1, 1}));
}

TEST(PageData, WhatRecordsSayAboutTheirMachineIsKeptOnce) {
  const Json data = data_of({measured_on("1", "here"), measured_on("2", "here"), measured_on("3", "there")});
  ASSERT_EQ(data["hosts"].size(), 2u);
  EXPECT_EQ(data["hosts"][data["records"][2]["system"].get<size_t>()]["name"], "there");
}

TEST(PageData, PairingsAreThoseOfCompareInBothOrders) {
  std::vector<Record> records = {measured_on("1", "here"), measured_on("2", "there"),
                                 measured_on("3", "there", "vgg16")};
  for (double& sample : records[1].samples_ms) sample *= 2;
  records[1].median_ms = 2 * *records[1].median_ms;
  const Json data = data_of(records);
  ASSERT_EQ(data["pairings"].size(), 2u);
  const ComparedPair pair =
      compare_selections({"here", {records[0]}}, {"there", {records[1], records[2]}}).at(0);
  const Json& entry = data["pairings"][0][2][0];
  EXPECT_EQ(entry[0], 0);
  EXPECT_EQ(entry[1], 1);
  EXPECT_EQ(entry[3], pair.comparison.ratio);
  EXPECT_EQ(entry[4], pair.comparison.interval->low);
  EXPECT_EQ(entry[5], pair.comparison.interval->high);
  EXPECT_EQ(entry.size(), 6u);
  const Json& outcome = data["outcomes"][entry[2].get<size_t>()];
  EXPECT_EQ(outcome["answer"], name_of(pair.comparison.answer));
  EXPECT_EQ(outcome["unit"], "ms");
}

TEST(PageData, RefusedPairsHaveTheirReasonsAndNoRatio) {
  std::vector<Record> records = {measured_on("1", "here"), measured_on("2", "there")};
  records[1].batch = 8;
  const Json data = data_of(records);
  const Json& entry = data["pairings"][0][2][0];
  EXPECT_EQ(entry.size(), 3u);
  const Json& outcome = data["outcomes"][entry[2].get<size_t>()];
  EXPECT_EQ(outcome["refusals"], Json::array({"batch 16 against 8"}));
  EXPECT_FALSE(outcome.contains("answer"));
}

TEST(PageData, ValuesThatWereEvenedOutAreTold) {
  std::vector<Record> records = {measured_on("1", "here"), measured_on("2", "there")};
  for (Record& record : records) record.mode = "train";
  records[0].time_includes = {"update"};
  records[0].forward_ms = records[0].backward_ms = 1;
  records[0].update_ms = 2;
  const Json data = data_of(records);
  const Json& entry = data["pairings"][0][2][0];
  ASSERT_EQ(entry.size(), 8u);
  EXPECT_EQ(entry[6], *records[0].median_ms / 2);
  EXPECT_EQ(entry[7], *records[1].median_ms);
}

// Names of the published systems that stand beside what was measured from the beginning.
std::vector<std::string> shown_beside(std::vector<Record> records) {
  const std::vector<Record> published = reference_records();
  records.insert(records.end(), published.begin(), published.end());
  std::vector<std::string> names;
  const Json data = data_of(records);
  for (const Json& system : data["systems"]) {
    if (system.contains("beside")) names.push_back(system["name"]);
  }
  return names;
}

TEST(PageData, TheDgx1StandsBesideWhatItHasInCommon) {
  EXPECT_THAT(shown_beside({measured_on("1", "here")}), testing::ElementsAre("DGX-1 V100"));
  EXPECT_THAT(shown_beside({measured_on("1", "here", "unet3d")}), testing::IsEmpty());
}

TEST(PageData, AllPublishedPairingsTakeLessThanAMegabyte) {
  EXPECT_LT(to_text(data_of(reference_records())["pairings"]).size(), 1'000'000u);
}

}  // namespace
}  // namespace tacho
