#include "base/cgroup.h"

#include <algorithm>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

namespace fs = std::filesystem;

// The number behind `name` in lines of "name number".
int64_t read_entry(const fs::path& path, const std::string& name) {
  for (const std::string& line : split(read_file_if_present(path), '\n')) {
    if (line.starts_with(name + " ")) return parse_integer(trim(line.substr(name.size()))).value_or(0);
  }
  return 0;
}

void tighten_cpus(CgroupLimits& limits, std::optional<int64_t> quota_us, std::optional<int64_t> period_us) {
  if (!quota_us || !period_us || *quota_us <= 0 || *period_us <= 0) return;
  limits.cpus = std::min(limits.cpus, static_cast<double>(*quota_us) / static_cast<double>(*period_us));
}

void tighten_memory(CgroupLimits& limits, std::optional<int64_t> limit, std::optional<int64_t> used,
                    int64_t reclaimable) {
  if (!limit) return;
  const int64_t held = std::max<int64_t>(0, used.value_or(0) - reclaimable);
  limits.memory_bytes = std::min(limits.memory_bytes, *limit);
  limits.free_memory_bytes = std::min(limits.free_memory_bytes, std::max<int64_t>(0, *limit - held));
}

// "max" in place of a number means no limit.
void tighten_v2(CgroupLimits& limits, const fs::path& group) {
  const auto quota_and_period = split(trim(read_file_if_present(group / "cpu.max")), ' ');
  if (quota_and_period.size() == 2) {
    tighten_cpus(limits, parse_integer(quota_and_period[0]), parse_integer(quota_and_period[1]));
  }
  tighten_memory(limits, read_integer_if_present(group / "memory.max"),
                 read_integer_if_present(group / "memory.current"),
                 read_entry(group / "memory.stat", "inactive_file"));
}

void tighten_cpu_v1(CgroupLimits& limits, const fs::path& group) {
  tighten_cpus(limits, read_integer_if_present(group / "cpu.cfs_quota_us"),
               read_integer_if_present(group / "cpu.cfs_period_us"));
}

void tighten_memory_v1(CgroupLimits& limits, const fs::path& group) {
  tighten_memory(limits, read_integer_if_present(group / "memory.limit_in_bytes"),
                 read_integer_if_present(group / "memory.usage_in_bytes"),
                 read_entry(group / "memory.stat", "total_inactive_file"));
}

// Visits the group and every group above it, up to the mount. In a container the path may be the host's and
// so not exist here; the mount itself is then the container's group, and is visited too.
template<typename Visit>
void walk_up(const fs::path& mount, const std::string& group, Visit visit) {
  fs::path relative = fs::path(group).relative_path();
  for (; !relative.empty(); relative = relative.parent_path()) visit(mount / relative);
  visit(mount);
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  for (const std::string& line : split(read_file_if_present(root / "proc/self/cgroup"), '\n')) {
    // "hierarchy:controllers:path"; version 2 has no controllers.
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1),
                      group = line.substr(second + 1);
    if (controllers.empty()) {
      walk_up(mounts, group, [&](const fs::path& folder) { tighten_v2(limits, folder); });
    }
    for (const std::string& controller : split(controllers, ',')) {
      // Mounted under the one name or the joint one.
      std::error_code error;
      const fs::path mount = mounts / (fs::exists(mounts / controller, error) ? controller : controllers);
      if (controller == "cpu") {
        walk_up(mount, group, [&](const fs::path& folder) { tighten_cpu_v1(limits, folder); });
      } else if (controller == "memory") {
        walk_up(mount, group, [&](const fs::path& folder) { tighten_memory_v1(limits, folder); });
      }
    }
  }
  return limits;
}

}  // namespace tacho
