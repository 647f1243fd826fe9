#pragma once

#include <filesystem>
#include <string_view>

namespace tacho {

// What else keeps the machine busy.
struct LoadInfo {
  double load_average_1min = 0;
  double steal_percent = 0;  // of the CPUs' time, taken by the hypervisor while this system wanted to run
  double busy_percent = 0;   // of the CPUs' time, this process included
};

// Watches the machine for `watch_ms`. `root` is where the system's files are, for tests.
LoadInfo load_info(double watch_ms, const std::filesystem::path& root = "/");

// The shares of the time between two readings of /proc/stat.
LoadInfo load_between(std::string_view stat_before, std::string_view stat_after);

}  // namespace tacho
