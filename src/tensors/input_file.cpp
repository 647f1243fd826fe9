#include "tensors/input_file.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace tacho {

InputFile::InputFile(const std::filesystem::path& path) : name_(path.string()) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw UserError("{}: there is no such file", name_);
  if (!std::filesystem::is_regular_file(status)) throw UserError("{}: not a regular file", name_);
  errno = 0;
  stream_.open(path, std::ios::binary);
  if (!stream_) throw UserError("{}: cannot be read: {}", name_, std::strerror(errno));
  bytes_ = std::filesystem::file_size(path, error);
  if (error) throw UserError("{}: cannot be read: {}", name_, error.message());
}

void InputFile::read(std::span<std::byte> destination) {
  if (destination.empty()) return;
  stream_.read(reinterpret_cast<char*>(destination.data()), static_cast<std::streamsize>(destination.size()));
  if (!stream_) throw UserError("{}: reading stopped at byte {} of {}", name_, position_, bytes_);
  position_ += destination.size();
}

std::string InputFile::read_text(size_t length) {
  std::string text(length, '\0');
  read(std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace tacho
