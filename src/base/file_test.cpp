#include "base/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <stdexcept>

#include "base/error.h"
#include "base/fake_system.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class File : public testing::Test {
 protected:
  ptrdiff_t files() const { return std::distance(fs::directory_iterator(folder_), fs::directory_iterator()); }

  const FakeSystem system_;
  const fs::path folder_ = system_.root();
};

template<typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(File, ComesBackAsItWasWritten) {
  const std::string content("a\0b\n", 4);
  write_file_atomically(folder_ / "x", content);
  EXPECT_EQ(read_file(folder_ / "x"), content);
  EXPECT_EQ(files(), 1);
}

TEST_F(File, OfAWriterThatWasKilledIsRemovedAndNoOther) {
  make_folders(folder_ / "a" / "b");
  for (const char* name : {"a/b/x.17.tmp", "a/b/x", "y.tmp", "tmp"})
    write_file_atomically(folder_ / name, "");
  remove_temporary_files(folder_);
  EXPECT_FALSE(fs::exists(folder_ / "a/b/x.17.tmp"));
  EXPECT_FALSE(fs::exists(folder_ / "y.tmp"));
  EXPECT_TRUE(fs::exists(folder_ / "a/b/x"));
  EXPECT_TRUE(fs::exists(folder_ / "tmp"));
}

TEST_F(File, MayBeEmpty) {
  write_file_atomically(folder_ / "x", "");
  EXPECT_EQ(read_file(folder_ / "x"), "");
}

TEST_F(File, TakesWhatAWriterGivesInOrder) {
  write_file_atomically(folder_ / "x", [](const ByteSink& sink) {
    for (const std::string_view part : {"one ", "", "two"}) sink(std::as_bytes(std::span(part)));
  });
  EXPECT_EQ(read_file(folder_ / "x"), "one two");
}

TEST_F(File, KeepsItsOldContentWhenTheWriterThrows) {
  write_file_atomically(folder_ / "x", "old");
  const auto write_half = [](const ByteSink& sink) {
    sink(std::as_bytes(std::span("half")));
    throw std::runtime_error("stop");
  };
  EXPECT_THROW(write_file_atomically(folder_ / "x", write_half), std::runtime_error);
  EXPECT_EQ(read_file(folder_ / "x"), "old");
  EXPECT_EQ(files(), 1);
}

TEST_F(File, IsOldUntilTheWriterIsDone) {
  write_file_atomically(folder_ / "x", "old");
  write_file_atomically(folder_ / "x", [&](const ByteSink& sink) {
    sink(std::as_bytes(std::span("new")));
    EXPECT_EQ(read_file(folder_ / "x"), "old");
  });
}

TEST_F(File, KeepsItsPermissions) {
  write_file_atomically(folder_ / "x", "old");
  fs::permissions(folder_ / "x", fs::perms::owner_read | fs::perms::owner_write);
  write_file_atomically(folder_ / "x", "new");
  EXPECT_EQ(fs::status(folder_ / "x").permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(File, IsReplacedBehindASymbolicLink) {
  write_file_atomically(folder_ / "x", "old");
  fs::create_symlink("x", folder_ / "link");
  write_file_atomically(folder_ / "link", "new");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "x"), "new");
}

TEST_F(File, ThatIsADeviceIsWrittenInPlace) {
  write_file_atomically("/dev/null", "gone");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(File, ThatClaimsToBeEmptyIsReadToItsEnd) {
  EXPECT_THAT(read_file("/proc/self/status"), HasSubstr("VmRSS"));
}

TEST_F(File, MayBeAbsentWhereThatIsExpected) {
  write_file_atomically(folder_ / "x", "a");
  EXPECT_EQ(read_file_if_present(folder_ / "x"), "a");
  EXPECT_EQ(read_file_if_present(folder_ / "none"), "");
}

TEST_F(File, NamesPathAndReasonWhenItCannotBeRead) {
  EXPECT_THAT(message_of([&] { read_file(folder_ / "none"); }),
              AllOf(HasSubstr("cannot read"), HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(message_of([&] { read_file(folder_); }),
              AllOf(HasSubstr("cannot read"), HasSubstr("directory")));
}

TEST_F(File, FoldersAreMadeWithThoseAboveThem) {
  for (const char* name : {"a/b/c", "a/b/c", "a/d/", "a/b"}) {
    make_folders(folder_ / name);
    EXPECT_TRUE(fs::is_directory(folder_ / name)) << name;
  }
  write_file_atomically(folder_ / "x", "a");
  EXPECT_THAT(message_of([&] { make_folders(folder_ / "x" / "y"); }),
              AllOf(HasSubstr("cannot make the directory"), HasSubstr("/x: File exists")));
}

TEST_F(File, NamesPathAndReasonWhenItCannotBeWritten) {
  EXPECT_THAT(message_of([&] { write_file_atomically(folder_ / "none" / "x", "a"); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("none/x:"), HasSubstr("No such file")));
  EXPECT_THAT(message_of([&] { write_file_atomically(folder_, "a"); }),
              AllOf(HasSubstr("cannot write"), HasSubstr("directory")));
}

}  // namespace
}  // namespace tacho
