#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

namespace tacho {

// A regular file read from front to back. Every failure throws UserError with the file's name.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);

  const std::string& name() const { return name_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t remaining() const { return bytes_ - position_; }

  // Fills all of `destination` from the current position. The caller has checked remaining().
  void read(std::span<std::byte> destination);
  std::string read_text(size_t length);

 private:
  std::string name_;
  std::ifstream stream_;
  uint64_t bytes_ = 0, position_ = 0;
};

}  // namespace tacho
