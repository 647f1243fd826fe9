#include "base/os.h"

#include <sys/utsname.h>

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

}  // namespace tacho
