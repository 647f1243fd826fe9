#include "base/os.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdint>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

utsname kernel() {
  utsname names{};
  uname(&names);
  return names;
}

// Values may stand in quotes of either kind.
std::string_view unquoted(std::string_view value) {
  const bool quoted =
      value.size() >= 2 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front();
  return quoted ? value.substr(1, value.size() - 2) : value;
}

}  // namespace

std::string os_name(const std::filesystem::path& root) {
  constexpr std::string_view kKey = "PRETTY_NAME=";
  for (const auto folder : {"etc", "usr/lib"}) {
    for (const std::string& line : split(read_file_if_present(root / folder / "os-release"), '\n')) {
      if (line.starts_with(kKey)) return std::string(unquoted(trim(line).substr(kKey.size())));
    }
  }
  return kernel().sysname;
}

std::string kernel_version() { return kernel().release; }

std::string host_name() { return kernel().nodename; }

std::string boot_id() { return std::string(trim(read_file_if_present("/proc/sys/kernel/random/boot_id"))); }

std::string machine_id(const std::filesystem::path& root) {
  const std::string file = read_file_if_present(root / "etc/machine-id");
  const std::string own(trim(file));
  return fmt::format("{:016x}", stable_hash("tacho " + (own.empty() ? host_name() : own)));
}

}  // namespace tacho
