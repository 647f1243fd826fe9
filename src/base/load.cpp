#include "base/load.h"

#include <chrono>
#include <cstdlib>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "base/file.h"
#include "base/text.h"

namespace tacho {
namespace {

struct CpuTime {
  int64_t total = 0, idle = 0, steal = 0;
};

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice": guests are counted in user and nice
// too.
CpuTime parse_cpu_time(std::string_view stat) {
  std::vector<int64_t> ticks;
  for (const std::string& field : split(stat.substr(0, stat.find('\n')), ' ')) {
    if (const auto number = parse_integer(field)) ticks.push_back(*number);
  }
  ticks.resize(8);
  return {std::accumulate(ticks.begin(), ticks.end(), int64_t{0}), ticks[3] + ticks[4], ticks[7]};
}

double percent(int64_t part, int64_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

LoadInfo load_between(std::string_view stat_before, std::string_view stat_after) {
  const CpuTime before = parse_cpu_time(stat_before), after = parse_cpu_time(stat_after);
  const int64_t total = after.total - before.total;
  LoadInfo load;
  if (total <= 0) return load;
  load.steal_percent = percent(after.steal - before.steal, total);
  load.busy_percent = 100 - percent(after.idle - before.idle, total) - load.steal_percent;
  return load;
}

LoadInfo load_info(double watch_ms, const std::filesystem::path& root) {
  const std::string before = read_file_if_present(root / "proc/stat");
  std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(watch_ms));
  LoadInfo load = load_between(before, read_file_if_present(root / "proc/stat"));
  const std::string averages = read_file_if_present(root / "proc/loadavg");
  load.load_average_1min = std::strtod(averages.c_str(), nullptr);
  return load;
}

}  // namespace tacho
