#include "results/record_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json_values.h"
#include "results/example_record.h"
#include "results/record_json.h"

namespace tacho {
namespace {

using ::testing::ElementsAre;

Json with(std::string id, const char* field, const Json& value) {
  Json json = to_json(example_record(std::move(id)));
  json[field] = value;
  return json;
}

TEST(ParseRecords, TakesAnArrayAndOneObjectALine) {
  const std::string one = to_json(example_record("a")).dump(), two = to_json(example_record("b")).dump();
  EXPECT_EQ(parse_records("[" + one + "," + two + "]", "f").records.size(), 2u);
  EXPECT_EQ(parse_records(one + "\n" + two + "\n", "f").records.size(), 2u);
}

TEST(ParseRecords, RefusesATextThatIsCutOffAnywhere) {
  const std::string whole = "[" + to_json(example_record()).dump() + "]";
  for (size_t length = 1; length < whole.size(); ++length) {
    EXPECT_THROW(parse_records(whole.substr(0, length), "f"), UserError) << length;
  }
}

TEST(ParseRecords, OneThatWasChangedHidesNoOther) {
  const Json good = to_json(example_record("good")), bad = with("bad", "median_ms", 50);
  const RecordList list = parse_records(Json::array({bad, good}).dump(), "f");
  ASSERT_EQ(list.records.size(), 1u);
  EXPECT_EQ(list.records[0].id, "good");
  ASSERT_EQ(list.unread.size(), 1u);
  EXPECT_EQ(list.unread[0].name, "record 1");
  EXPECT_THAT(list.unread[0].reason, testing::StartsWith("was changed"));
  EXPECT_FALSE(list.unread[0].newer);
}

TEST(ParseRecords, ALineThatIsCutOffHidesNoOther) {
  const std::string good = to_json(example_record("good")).dump();
  const RecordList list = parse_records(good + "\n" + good.substr(0, 100), "f");
  EXPECT_EQ(list.records.size(), 1u);
  EXPECT_EQ(list.unread.size(), 1u);
}

TEST(ParseRecords, ATextWithoutAnyRecordIsRefused) {
  EXPECT_THROW(parse_records("[1]", "f"), UserError);
  EXPECT_THROW(parse_records("{}", "f"), UserError);
  EXPECT_THROW(parse_records(with("bad", "median_ms", 50).dump(), "f"), UserError);
}

TEST(ParseRecords, WhatOnlyANewerProgramUnderstandsIsHandedOnAsItIs) {
  for (const Json& json :
       {with("a", "schema", Record::kSchema + 1), with("a", "kind", "dream"), with("a", "mode", "guess")}) {
    const RecordList list = parse_records(json.dump(), "f");
    EXPECT_TRUE(list.records.empty());
    ASSERT_EQ(list.unread.size(), 1u);
    EXPECT_TRUE(list.unread[0].newer);
    EXPECT_EQ(list.unread[0].json, json.dump());
  }
}

TEST(ParseRecords, ARecordOfANewerSchemaNeedsAnIdNonetheless) {
  Json json = with("a", "schema", Record::kSchema + 1);
  json.erase("id");
  EXPECT_THROW(parse_records(json.dump(), "f"), UserError);
}

TEST(ParseRecords, RefusesATextThatIsNestedWithoutEnd) {
  const std::string one = to_json(example_record()).dump();
  const auto nested = [&](size_t depth) {
    return one.substr(0, one.size() - 1) + ",\"deep\":" + std::string(depth, '[') + std::string(depth, ']') +
           "}";
  };
  EXPECT_EQ(parse_records(nested(50), "f").records.size(), 1u);
  EXPECT_THROW(parse_records(nested(1'000'000), "f"), UserError);
  EXPECT_EQ(parse_records(with("a", "command", std::string(200, '[') + "\"\\").dump(), "f").records.size(),
            1u);
}

TEST(NotesOfUnread, AreOneLineAReason) {
  const std::vector<UnreadRecord> unread = {{.name = "a", .reason = "has schema 2"},
                                            {.name = "b", .reason = "is not JSON"},
                                            {.name = "c", .reason = "has schema 2"}};
  EXPECT_THAT(notes_of(unread, "f", "kept"),
              ElementsAre("2 records of f cannot be read: a (and 1 more) has schema 2; they are kept",
                          "1 record of f cannot be read: b is not JSON; it is kept"));
}

}  // namespace
}  // namespace tacho
