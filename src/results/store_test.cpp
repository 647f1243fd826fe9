#include "results/store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "base/json_values.h"
#include "base/test_folder.h"
#include "results/example_record.h"
#include "results/record_json.h"

namespace tacho {
namespace {

class StoreFile : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "deep" / "results.db"; }

 private:
  TestFolder folder_;
};

TEST_F(StoreFile, KeepsRecordsWhole) {
  Store(file()).add(example_record());
  const std::vector<Record> records = Store(file()).all().records;
  ASSERT_EQ(records.size(), 1u);
  EXPECT_EQ(to_json(records[0]), to_json(example_record()));
}

TEST_F(StoreFile, TakesARecordOnce) {
  Store store(file());
  const std::vector<Record> records = {example_record("a"), example_record("b")};
  EXPECT_EQ(store.add(records), 2);
  EXPECT_EQ(store.add(records), 0);
  EXPECT_EQ(store.all().records.size(), 2u);
}

TEST_F(StoreFile, FindsByTheBeginningOfAnId) {
  Store store(file());
  store.add(example_record("abc1"));
  store.add(example_record("abd2"));
  EXPECT_EQ(store.find_id("abc"), "abc1");
  EXPECT_THROW(store.find_id("ab"), UserError);
  EXPECT_THROW(store.find_id("x"), UserError);
}

TEST_F(StoreFile, ADamagedRecordHidesNoOtherAndCanBeRemoved) {
  Store store(file());
  store.add(example_record("good"));
  store.add(example_record("bad"));
  Database(file()).run("UPDATE records SET record = '{' WHERE id = 'bad'");
  const RecordList list = store.all();
  ASSERT_EQ(list.records.size(), 1u);
  EXPECT_EQ(list.records[0].id, "good");
  ASSERT_EQ(list.unread.size(), 1u);
  EXPECT_EQ(list.unread[0].name, "bad");
  EXPECT_FALSE(list.unread[0].newer);
  EXPECT_EQ(store.text_of("bad"), "{");
  store.remove(store.find_id("bad"));
  EXPECT_TRUE(store.all().unread.empty());
}

TEST_F(StoreFile, KeepsFieldsItHasNoNameFor) {
  Json json = to_json(example_record());
  json["colour"] = {{"hue", 1.5}};
  Store(file()).add(record_from_json(json));
  EXPECT_EQ(to_json(Store(file()).all().records.at(0)), json);
}

TEST_F(StoreFile, KeepsARecordOfANewerSchemaAndUsesNoFigureOfIt) {
  Json json = to_json(example_record("newer"));
  json["schema"] = Record::kSchema + 1;
  const RecordList list = parse_records(json.dump(), "f");
  Store store(file());
  EXPECT_EQ(store.add(list.records, list.unread), 1);
  EXPECT_EQ(store.add(list.records, list.unread), 0);
  EXPECT_TRUE(store.all().records.empty());
  EXPECT_EQ(store.all().unread.at(0).json, json.dump());
  EXPECT_EQ(Database(file()).integer("SELECT count(*) FROM records WHERE id = 'newer' AND median_ms IS NULL"),
            1);
}

TEST_F(StoreFile, DoesNotTakeADamagedRecord) {
  const RecordList list = {.unread = {{.name = "bad"}}};
  EXPECT_EQ(Store(file()).add(list.records, list.unread), 0);
}

TEST_F(StoreFile, RemovesARecord) {
  Store store(file());
  store.add(example_record("a"));
  store.remove("a");
  EXPECT_TRUE(store.all().records.empty());
}

TEST_F(StoreFile, HasAColumnForEachPlainField) {
  Store(file()).add(example_record());
  Database database(file());
  EXPECT_EQ(database.integer("SELECT batch FROM records WHERE model = 'resnet18' AND median_ms > 100"), 16);
}

TEST_F(StoreFile, GivesAnOlderStoreTheColumnsItLacks) {
  Store(file()).add(example_record("a"));
  Database(file()).run("ALTER TABLE records DROP COLUMN gflops");
  Store store(file());
  store.add(example_record("b"));
  EXPECT_EQ(store.all().records.size(), 2u);
}

TEST_F(StoreFile, RefusesWhatIsNoStoreAndLeavesItAlone) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << "these are not the bytes of a database, whatever the name says, not at all";
  EXPECT_THROW(Store{file()}, UserError);
  EXPECT_GT(std::filesystem::file_size(file()), 70u);
}

TEST_F(StoreFile, RefusesAnotherProgramsDatabase) {
  std::filesystem::create_directories(file().parent_path());
  Database(file()).run("CREATE TABLE theirs (x)");
  EXPECT_THROW(Store{file()}, UserError);
}

TEST_F(StoreFile, ReadsANewerStoreAndLeavesItAlone) {
  Store(file()).add(example_record("a"));
  Database(file()).run("ALTER TABLE records DROP COLUMN gflops");
  Database(file()).run("PRAGMA user_version = 2");
  Store store(file());
  EXPECT_EQ(store.all().records.size(), 1u);
  EXPECT_EQ(store.find_id("a"), "a");
  EXPECT_THROW(store.check_writable(), UserError);
  EXPECT_THROW(store.add(example_record("b")), UserError);
  EXPECT_THROW(store.remove("a"), UserError);
  Database database(file());
  EXPECT_EQ(database.integer("SELECT count(*) FROM records"), 1);
  EXPECT_EQ(database.integer("SELECT count(*) FROM pragma_table_info('records') WHERE name = 'gflops'"), 0);
}

TEST_F(StoreFile, RefusesANewerStoreWithoutTheColumnsThatEveryVersionHas) {
  Store{file()};
  Database(file()).run("ALTER TABLE records RENAME COLUMN record TO document");
  Database(file()).run("PRAGMA user_version = 2");
  EXPECT_THROW(Store{file()}, UserError);
}

void write_as_a_process(const std::filesystem::path& file, int writer, int count) {
  Store store(file);
  for (int i = 0; i < count; ++i) store.add(example_record(fmt::format("{}-{}", writer, i)));
}

TEST_F(StoreFile, LosesNothingWhenEightProcessesWriteAtOnce) {
  constexpr int kWriters = 8, kRecords = 500;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    const pid_t child = fork();
    if (child == 0) {
      try {
        write_as_a_process(file(), writer, kRecords);
        _exit(0);
      } catch (...) {
        _exit(1);
      }
    }
    writers.push_back(child);
  }
  for (const pid_t child : writers) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Store(file()).all().records.size(), static_cast<size_t>(kWriters * kRecords));
}

TEST_F(StoreFile, KeepsWhatWasAddedWhenTheWriterIsKilled) {
  int report[2];
  ASSERT_EQ(pipe(report), 0);
  const pid_t child = fork();
  if (child == 0) {
    Store store(file());
    for (int i = 0;; ++i) {
      store.add(example_record(fmt::format("{}", i)));
      if (::write(report[1], &i, sizeof i) != sizeof i) _exit(1);
    }
  }
  int added = 0;
  while (added < 20 && ::read(report[0], &added, sizeof added) == sizeof added) {
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(report[0]);
  close(report[1]);
  EXPECT_GT(Store(file()).all().records.size(), 20u);
}

}  // namespace
}  // namespace tacho
