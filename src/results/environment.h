#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace tacho {

// The machine and the build that a measurement came from.
struct SystemInfo {
  std::string name = {};
  std::string cpu = {};
  int cores = 0;  // usable under affinity and cgroup limits
  int64_t memory_mib = 0;
  std::string os = {};
  std::string compiler = {};
  std::map<std::string, std::string> engines = {}, libraries = {};  // name -> version
  std::string version = {}, commit = {}, build_type = {};  // of tacho; the commit is empty outside a checkout
};

// `name` is the host's name where empty.
SystemInfo capture_system(std::string_view name);

}  // namespace tacho
