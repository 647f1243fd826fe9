#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/cgroup.h"
#include "base/error.h"
#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The bytes behind `name` in lines of "name:   number kB"; 0 where there are none.
int64_t read_kilobytes(const fs::path& path, const std::string& name) {
  for (const std::string& line : split(read_file_if_present(path), '\n')) {
    if (!line.starts_with(name + ":") || !line.ends_with(" kB")) continue;
    const std::string number = line.substr(name.size() + 1, line.size() - name.size() - 4);
    return parse_integer(trim(number)).value_or(0) * 1024;
  }
  return 0;
}

// The address space that `ulimit -v` allows this process.
int64_t address_space_bytes(const fs::path& root) {
  constexpr std::string_view kName = "Max address space";
  for (const std::string& line : split(read_file_if_present(root / "proc/self/limits"), '\n')) {
    if (!line.starts_with(kName)) continue;
    const std::string limits(trim(line.substr(kName.size())));  // the one in force, then the highest
    return parse_integer(limits.substr(0, limits.find(' '))).value_or(kUnlimited);
  }
  return kUnlimited;
}

}  // namespace

int64_t total_memory_bytes(const fs::path& root) {
  return std::min({read_kilobytes(root / "proc/meminfo", "MemTotal"), cgroup_limits(root).memory_bytes,
                   address_space_bytes(root)});
}

int64_t available_memory_bytes(const fs::path& root) {
  const int64_t unused_addresses =
      address_space_bytes(root) - read_kilobytes(root / "proc/self/status", "VmSize");
  return std::min({read_kilobytes(root / "proc/meminfo", "MemAvailable"),
                   cgroup_limits(root).free_memory_bytes, std::max<int64_t>(unused_addresses, 0)});
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
