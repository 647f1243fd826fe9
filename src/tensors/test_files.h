#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace tacho {

// A file that is gone after the test.
class TestFile {
 public:
  explicit TestFile(std::string_view content = {})
      : path_(std::filesystem::path(testing::TempDir()) / (name() + ".tmp-test")) {
    write(content);
  }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;
  ~TestFile() { std::filesystem::remove(path_); }

  const std::filesystem::path& path() const { return path_; }
  std::string content() const { return read_file(path_); }
  void write(std::string_view content) const { std::ofstream(path_, std::ios::binary) << content; }

 private:
  static std::string name() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test->test_suite_name()) + "." + test->name();
    std::ranges::replace(name, '/', '.');
    return name;
  }

  std::filesystem::path path_;
};

// The text of the UserError that `action` throws; it must be one line.
template<typename Action>
std::string complaint(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
    return error.what();
  }
  return "no complaint";
}

template<typename T>
std::string bytes_of(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

// For files that may be good or bad: anything but success or one clear complaint ends the test program.
template<typename Action>
void survives(Action action) {
  try {
    action();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), testing::Not(testing::HasSubstr("\n")));
  }
}

}  // namespace tacho
