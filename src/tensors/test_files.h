#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/complaint.h"
#include "base/file.h"
#include "base/test_folder.h"

namespace tacho {

// A file that is gone after the test.
class TestFile {
 public:
  explicit TestFile(std::string_view content = {}) { write(content); }

  const std::filesystem::path& path() const { return path_; }
  std::string content() const { return read_file(path_); }
  void write(std::string_view content) const { std::ofstream(path_, std::ios::binary) << content; }

 private:
  TestFolder folder_;
  std::filesystem::path path_ = folder_.path() / "file";
};

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
