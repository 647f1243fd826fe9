#include "report/nodes_table.h"

#include <fmt/format.h>

#include "results/format.h"

namespace tacho {
namespace {

std::string cell_of(const HostStanding& standing) {
  return fmt::format("{} ({:+.1f} %)", format_significant(standing.value, 3), -standing.behind_percent);
}

std::string finding_of(const HostFigures& figures, const HostStanding& standing) {
  return fmt::format("{}: {:.0f} % behind, limit {:.0f} %", figures.what, standing.behind_percent,
                     standing.limit_percent);
}

}  // namespace

Grid nodes_table(std::span<const std::string> hosts, std::span<const HostFigures> figures) {
  Grid grid = {.columns = {{"host", false, Importance::most}}, .rows = {}};
  for (const std::string& host : hosts) grid.rows.push_back({host});
  std::vector<std::string> findings(hosts.size());
  for (const HostFigures& one : figures) {
    grid.columns.push_back({fmt::format("{}, {}", one.what, one.unit), true});
    const std::vector<HostStanding> standings = stand(one);
    for (size_t host = 0; host < hosts.size(); ++host) {
      grid.rows[host].push_back(cell_of(standings[host]));
      if (!standings[host].is_outlier()) continue;
      findings[host] += (findings[host].empty() ? "" : "; ") + finding_of(one, standings[host]);
    }
  }
  grid.columns.push_back({"verdict", false, Importance::most});
  for (size_t host = 0; host < hosts.size(); ++host)
    grid.rows[host].push_back(findings[host].empty() ? "fine" : "slow: " + findings[host]);
  return grid;
}

std::string outlier_rule(std::span<const std::string> hosts, std::span<const HostFigures> figures) {
  return fmt::format(
      "A host is slow where a figure is behind the median of all hosts by more than {} %, and by more than "
      "{} "
      "standard deviations of the noise of its rounds and of the spread among the hosts. With normal noise "
      "fewer than 1 in {} healthy figures is: here at most 1 false alarm in {} runs. Other work on a host "
      "raises more.",
      kBehindPercent, kBehindDeviations, kFiguresPerFalseAlarm,
      kFiguresPerFalseAlarm / std::max<size_t>(1, hosts.size() * figures.size()));
}

std::vector<std::string> slow_hosts(std::span<const std::string> hosts,
                                    std::span<const HostFigures> figures) {
  std::vector<std::string> slow;
  for (size_t host = 0; host < hosts.size(); ++host) {
    for (const HostFigures& one : figures) {
      if (!stand(one)[host].is_outlier()) continue;
      slow.push_back(hosts[host]);
      break;
    }
  }
  return slow;
}

}  // namespace tacho
