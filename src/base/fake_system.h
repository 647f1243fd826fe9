#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "base/test_folder.h"

namespace tacho {

// A folder that stands for the root of a made-up system.
class FakeSystem {
 public:
  FakeSystem& with(const std::string& path, std::string_view content) {
    std::filesystem::create_directories((root() / path).parent_path());
    std::ofstream(root() / path) << content;
    return *this;
  }

  const std::filesystem::path& root() const { return folder_.path(); }

 private:
  TestFolder folder_;
};

}  // namespace tacho
