#include "capture/resume.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "capture/bench_record.h"

namespace tacho {
namespace {

Case cell(int64_t batch) {
  return {.model = "resnet18", .execution = {.engine = "native"}, .batch = batch, .image = {224, 224}};
}

const RunOrigin kHere = {"zoo", "here", "box"};

Record record_of(const Case& what, std::string run, Verdict verdict = Verdict::valid) {
  Record record = describe_case(what);
  record.run = std::move(run);
  record.suite = "zoo";
  record.system.machine_id = "here";
  record.system.name = "box";
  record.judgement.verdict = verdict;
  return record;
}

TEST(Resume, SkipsWhatWasMeasuredAndWhatDoesNotFitButNotWhatFailed) {
  const std::vector<Record> run = {record_of(cell(1), "a"), record_of(cell(2), "a", Verdict::failed),
                                   record_of(cell(3), "a", Verdict::out_of_memory)};
  const std::vector<Record> wanted = {describe_case(cell(1)), describe_case(cell(2)), describe_case(cell(3)),
                                      describe_case(cell(4))};
  const auto matched = match_records(run, wanted);
  EXPECT_TRUE(matched[0].has_value());
  EXPECT_FALSE(matched[1].has_value());
  EXPECT_TRUE(matched[2].has_value());
  EXPECT_FALSE(matched[3].has_value());
}

TEST(Resume, ACellThatFailedFirstAndWasMeasuredThenIsDone) {
  const std::vector<Record> run = {record_of(cell(1), "a", Verdict::failed), record_of(cell(1), "a")};
  const std::vector<Record> wanted = {describe_case(cell(1))};
  EXPECT_TRUE(match_records(run, wanted)[0].has_value());
}

TEST(Resume, RefusesARunOfAnotherSuiteOrSystem) {
  const std::vector<Record> records = {record_of(cell(1), "ab1")};
  EXPECT_THROW(find_run(records, "ab", {"quick", "here", "box"}), UserError);
  EXPECT_THROW(find_run(records, "ab", {"zoo", "there", "box"}), UserError);
  EXPECT_THROW(find_run(records, "", {"zoo", "here", "other box"}), UserError);
}

TEST(Resume, NothingIsAddedToCellsThatTookTurns) {
  std::vector<Record> records = {record_of(cell(1), "ab1")};
  records[0].interleaved = "turns";
  EXPECT_THROW(find_run(records, "ab", kHere), UserError);
  EXPECT_THROW(find_run(records, "", kHere), UserError);
}

TEST(Resume, WhatWasSimulatedIsNoRunToGoOnWith) {
  const std::vector<Record> records = {record_of(cell(1), "ab1"),
                                       record_of(cell(2), "cd2", Verdict::simulated)};
  EXPECT_EQ(find_run(records, "", kHere).front().run, "ab1");
}

TEST(Resume, ACellWithMorePassesIsAnotherCell) {
  Case longer = cell(1);
  longer.repeat += 1;
  EXPECT_FALSE(is_record_of(record_of(cell(1), "a"), describe_case(longer)));
}

TEST(Resume, RefusesARunOfOtherCells) {
  const std::vector<Record> run = {record_of(cell(1), "a")};
  const std::vector<Record> wanted = {describe_case(cell(2))};
  EXPECT_THROW(match_records(run, wanted), UserError);
}

TEST(Resume, FindsTheLastRunOfTheSuiteOnThisMachine) {
  std::vector<Record> records = {record_of(cell(1), "first"), record_of(cell(1), "second"),
                                 record_of(cell(1), "elsewhere")};
  records[2].system.machine_id = "there";
  EXPECT_EQ(find_run(records, "", kHere).front().run, "second");
  EXPECT_THROW(find_run(records, "", {"quick", "here", "box"}), UserError);
}

TEST(Resume, FindsARunByTheBeginningOfItsId) {
  const std::vector<Record> records = {record_of(cell(1), "ab1"), record_of(cell(2), "ab1"),
                                       record_of(cell(1), "ac2")};
  EXPECT_EQ(find_run(records, "ab", kHere).size(), 2u);
  EXPECT_THROW(find_run(records, "a", kHere), UserError);
  EXPECT_THROW(find_run(records, "x", kHere), UserError);
}

}  // namespace
}  // namespace tacho
