#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;
using Writer = std::function<void(const ByteSink&)>;

constexpr std::string_view kTemporary = ".tmp";

class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() { close(); }

  int descriptor() const { return descriptor_; }
  bool close() { return descriptor_ < 0 || ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

[[noreturn]] void refuse(const char* verb, const fs::path& path, int error) {
  throw UserError("cannot {} {}: {}", verb, path.string(), std::strerror(error));
}

void run_writer(const Writer& writer, const OpenFile& file, const fs::path& path) {
  writer([&](std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file.descriptor(), bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR) refuse("write", path, errno);
      if (written > 0) bytes = bytes.subspan(static_cast<size_t>(written));
    }
  });
}

// Makes the rename itself last through a crash. Not every file system can, and the content is safe already.
void sync_folder_of(const fs::path& path) {
  const fs::path folder = path.has_parent_path() ? path.parent_path() : ".";
  const OpenFile file(folder, O_RDONLY | O_DIRECTORY);
  if (file.descriptor() >= 0) fsync(file.descriptor());
}

bool keep_permissions(const fs::path& path, const OpenFile& file) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || fchmod(file.descriptor(), status.st_mode & 07777) == 0;
}

void replace(const fs::path& path, const Writer& writer) {
  const fs::path temporary = fmt::format("{}.{}{}", path.string(), getpid(), kTemporary);
  OpenFile file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.descriptor() < 0) refuse("write", path, errno);
  try {
    run_writer(writer, file, path);
    const bool replaced = keep_permissions(path, file) && fsync(file.descriptor()) == 0 && file.close() &&
                          rename(temporary.c_str(), path.c_str()) == 0;
    if (!replaced) refuse("write", path, errno);
  } catch (...) {
    unlink(temporary.c_str());
    throw;
  }
  sync_folder_of(path);
}

void write_in_place(const fs::path& path, const Writer& writer) {
  const OpenFile file(path, O_WRONLY);
  if (file.descriptor() < 0) refuse("write", path, errno);
  run_writer(writer, file, path);
}

// What writing to `path` would change: the end of its symbolic links.
fs::path behind_links(const fs::path& path) {
  std::error_code error;
  if (!fs::is_symlink(path, error)) return path;
  const fs::path target = fs::weakly_canonical(path, error);
  return error ? path : target;
}

}  // namespace

std::string read_file(const fs::path& path) {
  const OpenFile file(path, O_RDONLY);
  if (file.descriptor() < 0) refuse("read", path, errno);
  struct stat status {};
  if (fstat(file.descriptor(), &status) != 0) refuse("read", path, errno);
  // Files of /proc and /sys claim to be empty, so the size is only where to start.
  std::string content(static_cast<size_t>(status.st_size) + 1, '\0');
  for (size_t length = 0;;) {
    const ssize_t count = ::read(file.descriptor(), content.data() + length, content.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse("read", path, errno);
    length += static_cast<size_t>(count);
    if (count == 0) {
      content.resize(length);
      return content;
    }
    if (length == content.size()) content.resize(2 * length + 4096);
  }
}

std::string read_file_if_present(const fs::path& path) {
  try {
    return read_file(path);
  } catch (const UserError&) {
    return {};
  }
}

std::optional<int64_t> read_integer_if_present(const fs::path& path) {
  return parse_integer(trim(read_file_if_present(path)));
}

void write_file_atomically(const fs::path& path, const Writer& writer) {
  const fs::path target = behind_links(path);
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  if (fs::is_directory(status)) refuse("write", path, EISDIR);
  // Devices and pipes, such as /dev/stdout, can be written to but not replaced.
  const bool replaceable = !fs::exists(status) || fs::is_regular_file(status);
  replaceable ? replace(target, writer) : write_in_place(target, writer);
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  write_file_atomically(path, [&](const ByteSink& sink) { sink(std::as_bytes(std::span(content))); });
}

void append_if_possible(const fs::path& path, std::string_view lines) {
  std::error_code ignored;
  fs::create_directories(path.parent_path(), ignored);
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written = write(descriptor, lines.data(), lines.size());
  close(descriptor);
}

void remove_temporary_files(const fs::path& folder) {
  std::error_code none;
  std::vector<fs::path> left;
  for (const auto& entry : fs::recursive_directory_iterator(folder, none)) {
    if (entry.path().extension() == kTemporary) left.push_back(entry.path());
  }
  for (const fs::path& path : left) fs::remove(path, none);
}

void make_folders(const fs::path& folder) {
  std::error_code error;
  if (folder.empty() || fs::is_directory(folder, error)) return;
  if (!folder.has_filename()) return make_folders(folder.parent_path());
  make_folders(folder.parent_path());
  const bool made = fs::create_directory(folder, error);
  if (error) throw UserError("cannot make the directory {}: {}", folder.string(), error.message());
  if (made) sync_folder_of(folder);
}

}  // namespace tacho
