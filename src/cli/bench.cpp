#include <algorithm>
#include <iterator>
#include <memory>

#include "base/error.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "report/compare.h"
#include "session/bench_items.h"

namespace tacho {
namespace {

struct BenchOptions {
  SweepOptions sweep;
  bool interleaved = false;
  KeepOptions keep;
};

// The table, and below it the first engine against each other one.
std::string present_engines(std::span<const Record> records, const Layout& layout) {
  std::vector<Selection> selections;
  for (const Record& record : records) {
    if (std::ranges::count(selections, record.engine, &Selection::name) > 0) continue;
    std::vector<Record> same;
    std::ranges::copy_if(records, std::back_inserter(same),
                         [&](const Record& other) { return other.engine == record.engine; });
    selections.push_back(selection_of(record.engine, same));
  }
  std::string text = format_records(records, layout);
  if (selections.size() > 1) text += "\n" + format_comparison(selections, layout);
  return text;
}

WorkItems items_of(std::vector<Case> cells, bool interleaved) {
  if (interleaved) return turns_item(std::move(cells));
  return compare_means(cells) ? items_in_turns(std::move(cells)) : bench_items(std::move(cells));
}

}  // namespace

void add_bench_command(Command app, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  Command command =
      app.subcommand("bench", "Measure networks; every axis takes a list and the product is run");
  add_axes(command, options->sweep);
  command.flag("--interleave", options->interleaved,
               "Let the cells take turns, pass by pass, so that all of them meet the same disturbances");
  add_keep_options(command, options->keep);
  add_continue_option(command, options->keep);
  command.on_run([options, &context] {
    std::vector<Case> cells = expand(options->sweep, context.ranks.world());
    const bool in_turns = options->interleaved || compare_means(cells);
    if (in_turns && options->keep.resumed) {
      throw UserError("--continue: cells that take turns are measured all at once; leave it out");
    }
    Job job = {.items = items_of(cells, options->interleaved)};
    if (compare_means(cells)) job.present = present_engines;
    run_job(job, options->keep, context);
  });
}

}  // namespace tacho
