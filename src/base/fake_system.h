#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace tacho {

// A folder for one test that stands for the root of a made-up system.
class FakeSystem {
 public:
  FakeSystem() {
    std::string pattern = std::filesystem::temp_directory_path() / "tacho_test.XXXXXX";
    EXPECT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  FakeSystem(const FakeSystem&) = delete;
  FakeSystem& operator=(const FakeSystem&) = delete;
  ~FakeSystem() { std::filesystem::remove_all(root_); }

  FakeSystem& with(const std::string& path, std::string_view content) {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << content;
    return *this;
  }

  const std::filesystem::path& root() const { return root_; }

 private:
  std::filesystem::path root_;
};

}  // namespace tacho
