#include <memory>

#include "base/error.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "session/bench_items.h"

namespace tacho {
namespace {

struct BenchOptions {
  SweepOptions sweep;
  bool interleaved = false;
  KeepOptions keep;
};

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
    if (options->interleaved && options->keep.resumed) {
      throw UserError("--continue: cells that take turns are measured all at once; leave it out");
    }
    std::vector<Case> cells = expand(options->sweep, context.ranks.world());
    const Job job = {.items =
                         options->interleaved ? turns_item(std::move(cells)) : bench_items(std::move(cells))};
    run_job(job, options->keep, context);
  });
}

}  // namespace tacho
