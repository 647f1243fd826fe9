#include "results/selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/example_record.h"

namespace tacho {
namespace {

Record stored(std::string id, std::string system, std::string engine, std::string run) {
  Record record = example_record(std::move(id));
  record.system.name = system;
  record.system.machine_id = "id of " + system;
  record.engine = std::move(engine);
  record.run = std::move(run);
  return record;
}

const std::vector<Record> kStored = {
    stored("1", "alpha", "native", "abcd1"),
    stored("2", "alpha", "native", "abcd2"),
    stored("3", "alpha", "null", "abcd2"),
    stored("4", "beta", "native", "ffff3"),
};

std::vector<std::string> ids(std::string_view word) {
  std::vector<std::string> found;
  for (const Record& record : select_records(word, kStored, "id of alpha").records)
    found.push_back(record.id);
  return found;
}

TEST(Selection, ThisIsWhatThisMachineMeasuredLast) { EXPECT_EQ(ids("this"), std::vector<std::string>{"2"}); }

TEST(Selection, FindsRunsSystemsAndEngines) {
  EXPECT_EQ(ids("abcd1"), std::vector<std::string>{"1"});
  EXPECT_EQ(ids("beta"), std::vector<std::string>{"4"});
  EXPECT_EQ(ids("null"), std::vector<std::string>{"3"});
  EXPECT_EQ(ids("engine:native"), (std::vector<std::string>{"2", "4"}));
  EXPECT_EQ(ids("run:ffff"), std::vector<std::string>{"4"});
}

TEST(Selection, FindsPublishedSetsAndPartsOfThem) {
  EXPECT_EQ(ids("dgx1-v100").size(), 26u);
  const auto a100 = select_records("pytorch-gpu-benchmark/a100", kStored, "").records;
  ASSERT_FALSE(a100.empty());
  for (const Record& record : a100) EXPECT_THAT(record.system.name, testing::HasSubstr("A100"));
}

TEST(Selection, FieldsBehindTheNameLeaveOnlyTheirRecords) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1"),
                                 stored("2", "alpha", "native", "abcd1")};
  records[1].threads = 1;
  const auto one = select_records("abcd1/threads=1", records, "").records;
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].id, "2");
  EXPECT_THROW(select_records("abcd1/threads=7", records, ""), UserError);
  EXPECT_THROW(select_records("abcd1/thread=1", records, ""), UserError);
}

TEST(Selection, RecordsThatDifferInWorkOrMeansAreAllKept) {
  std::vector<Record> records(8, stored("1", "alpha", "native", "abcd1"));
  records[1].kernel = "winograd";
  records[2].memory = "low";
  records[3].seed = 2;
  records[4].data = "cifar10";
  records[5].recipe = "adam";
  records[6].kind = "train";
  records[7].batch = 7;
  EXPECT_EQ(select_records("alpha", records, "").records.size(), 8u);
}

TEST(Selection, AnotherProtocolIsTheSameCaseMeasuredAgain) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1"),
                                 stored("2", "alpha", "native", "abcd1")};
  records[1].repeat = 99;
  records[1].warmup = 1;
  const auto kept = select_records("alpha", records, "").records;
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].id, "2");
}

TEST(Selection, AFailureDoesNotHideTheFiguresBeforeIt) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1"),
                                 stored("2", "alpha", "native", "abcd1")};
  records[1].judgement.verdict = Verdict::failed;
  EXPECT_THAT(latest_with_figures(records), testing::ElementsAre(0));
}

TEST(Selection, WhatWasSimulatedNeitherCountsNorHidesWhatWasMeasured) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1"),
                                 stored("2", "alpha", "native", "abcd2")};
  records[1].judgement = {Verdict::simulated, "from record 1"};
  for (const char* word : {"alpha", "this", "engine:native"}) {
    const auto found = select_records(word, records, "id of alpha").records;
    ASSERT_EQ(found.size(), 1u) << word;
    EXPECT_EQ(found[0].id, "1") << word;
  }
  EXPECT_THAT(case_numbers(records), testing::ElementsAre(0, 1));
}

TEST(Selection, WhatWasSimulatedIsFoundByItsRunAndVerdict) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1"),
                                 stored("2", "alpha", "native", "abcd2")};
  records[1].judgement = {Verdict::simulated, "from record 1"};
  for (const char* word : {"abcd2", "alpha/verdict=simulated"}) {
    const auto found = select_records(word, records, "").records;
    ASSERT_EQ(found.size(), 1u) << word;
    EXPECT_EQ(found[0].id, "2") << word;
  }
}

TEST(Selection, SimulationsFromAnotherBasisAreAnotherCase) {
  std::vector<Record> records(3, stored("1", "alpha", "native", "abcd1"));
  records[0].judgement = {Verdict::simulated, "over 10Gbit,25us"};
  records[1].judgement = {Verdict::simulated, "over 100Gbit,5us"};
  records[2].judgement = {Verdict::simulated, "over 10Gbit,25us"};
  EXPECT_THAT(case_numbers(records), testing::ElementsAre(0, 1, 0));
}

TEST(Selection, CasesAreNumberedAsTheyAppear) {
  const auto numbers = case_numbers(kStored);
  EXPECT_THAT(numbers, testing::ElementsAre(0, 0, 1, 2));
  EXPECT_THAT(latest_of_each_case(numbers), testing::ElementsAre(false, true, true, true));
}

TEST(Selection, RefusesARunPrefixOfSeveral) { EXPECT_THROW(ids("run:abcd"), UserError); }

TEST(Selection, RefusesWhatMeansNothing) {
  EXPECT_THROW(ids("gamma"), UserError);
  EXPECT_THROW(ids("system:native"), UserError);
  EXPECT_THROW(ids("dgx1-v100/A100"), UserError);
  EXPECT_THROW(select_records("this", kStored, "elsewhere"), UserError);
}

TEST(Selection, LeavesOutCellsWithoutFigures) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1")};
  records[0].judgement.verdict = Verdict::out_of_memory;
  EXPECT_THROW(select_records("alpha", records, ""), UserError);
}

TEST(Selection, LeavesOutFiguresWhoseWorthOnlyANewerProgramKnows) {
  std::vector<Record> records = {stored("1", "alpha", "native", "abcd1")};
  set_verdict("dreamt", records[0].judgement);
  EXPECT_THROW(select_records("alpha", records, ""), UserError);
}

}  // namespace
}  // namespace tacho
