#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace tacho {

// What control groups (version 1 or 2) leave to this process: the tightest limit of its group and all above.
struct CgroupLimits {
  double cpus = std::numeric_limits<double>::infinity();
  int64_t memory_bytes = std::numeric_limits<int64_t>::max();
  // The limit less what is used and cannot be reclaimed.
  int64_t free_memory_bytes = std::numeric_limits<int64_t>::max();
};

// `root` is where the system's files are, for tests.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace tacho
