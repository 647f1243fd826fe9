#include "cli/nodes.h"

#include <fmt/ranges.h>

#include <cmath>

#include "base/error.h"
#include "base/json_values.h"
#include "cli/progress.h"
#include "distributed/together.h"
#include "report/nodes_table.h"
#include "report/table.h"
#include "session/node_check.h"

namespace tacho {
namespace {

constexpr int kRounds = 9, kLeastRounds = 5;

Json json_of(const NodeCheck& check) {
  Json list = Json::array();
  for (size_t host = 0; host < check.hosts.size(); ++host) {
    Json figures = Json::array();
    for (const HostFigures& one : check.figures) {
      const HostStanding standing = stand(one)[host];
      figures.push_back({{"what", one.what},
                         {"unit", one.unit},
                         {"samples", one.samples[host]},
                         {"median", standing.value},
                         {"behind_percent", standing.behind_percent},
                         {"limit_percent", standing.limit_percent},
                         {"outlier", standing.is_outlier()}});
    }
    list.push_back({{"host", check.hosts[host]}, {"figures", std::move(figures)}});
  }
  return list;
}

std::string shown(const NodeCheck& check, const Layout& layout) {
  if (layout.format == Format::json) return to_text(json_of(check), 2) + "\n";
  const std::string table = render(nodes_table(check.hosts, check.figures), layout);
  if (!is_for_people(layout.format)) return table;
  return table + "\n" + wrap(outlier_rule(check.hosts, check.figures) + "\n", layout.width);
}

}  // namespace

void run_nodes_suite(const OutputOptions& output, double scale, CommandContext& context) {
  World& world = context.ranks.world();
  const Layout layout = chosen_layout(output);
  if (layout.format == Format::jsonl) throw UserError("--format: suite nodes prints table, md, csv or json");
  if (context.ranks.is_first()) check_output(output);
  const int hosts = world.nodes(world.size());
  if (hosts < 2) {
    throw UserError(
        "suite nodes compares hosts, here is {}: start it on several with mpirun or srun, a rank each",
        hosts);
  }
  context.ranks.agree_to_start("");
  const NodeCheckOptions options = {
      .threads = world.threads_per_device(world.size()),
      .rounds = std::max(kLeastRounds, static_cast<int>(std::lround(kRounds * scale)))};
  Progress progress({1});
  NodeCheck check;
  in_step(world.all(), [&] {
    check = check_nodes(world, options, [&](const std::string& what, double share) {
      if (context.ranks.is_first()) progress.show(0, false, what, share);
    });
  });
  if (!context.ranks.is_first()) return;
  progress.clear();
  write_output(output, shown(check, layout));
  const std::vector<std::string> slow = slow_hosts(check.hosts, check.figures);
  if (slow.empty()) return;
  fmt::print(stderr, "tacho: slow: {}\n", fmt::join(slow, ", "));
  context.exit_status = 1;
}

}  // namespace tacho
