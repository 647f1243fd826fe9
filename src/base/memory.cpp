#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// The bytes behind `name` in lines of "name:   number kB"; 0 where there are none.
int64_t read_kilobytes(const fs::path& path, const std::string& name) {
  for (const std::string& line : split(read_file_if_present(path), '\n')) {
    if (!line.starts_with(name + ":") || !line.ends_with(" kB")) continue;
    const std::string number = line.substr(name.size() + 1, line.size() - name.size() - 4);
    return parse_integer(trim(number)).value_or(0) * 1024;
  }
  return 0;
}

}  // namespace

int64_t total_memory_bytes(const fs::path& root) {
  return std::min(read_kilobytes(root / "proc/meminfo", "MemTotal"), cgroup_limits(root).memory_bytes);
}

int64_t available_memory_bytes(const fs::path& root) {
  return std::min(read_kilobytes(root / "proc/meminfo", "MemAvailable"),
                  cgroup_limits(root).free_memory_bytes);
}

int64_t resident_memory_bytes(const fs::path& root) {
  return read_kilobytes(root / "proc/self/status", "VmRSS");
}

int64_t peak_memory_bytes(const fs::path& root) { return read_kilobytes(root / "proc/self/status", "VmHWM"); }

bool reset_peak_memory() {
  std::ofstream file("/proc/self/clear_refs");
  return static_cast<bool>(file << "5" << std::flush);
}

void require_memory(int64_t bytes) {
  const int64_t available = available_memory_bytes();
  if (bytes <= available) return;
  throw OutOfMemory(
      fmt::format("needs about {}, {} are available", format_bytes(bytes), format_bytes(available)));
}

}  // namespace tacho
