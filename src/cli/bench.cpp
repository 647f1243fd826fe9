#include <memory>

#include "base/cpu.h"
#include "cli/commands.h"
#include "cli/measure.h"
#include "cli/sweep_options.h"

namespace tacho {
namespace {

struct BenchOptions {
  SweepOptions sweep;
  bool interleaved = false;
  MeasureOptions measure;
};

void add_axes(Command command, SweepOptions& options) {
  command.option("models", options.models, "Names of 'tacho models'").required();
  command.option("--mode", options.modes, "infer, train or both").show_default();
  command.option("--batch", options.batches, "Per device: 16,32 or 1-8 or 16-2048*2; default: 16, volumes 1");
  command.option("--devices", options.devices).show_default();
  command.option("--threads", options.threads, "Per device; default: usable cores / devices");
  command.option("--engine", options.engines, "Of those 'tacho system' lists").show_default();
  command.option("--image", options.images, "224 or 224x160 or 40x216x216; default: the model's own");
}

}  // namespace

void add_bench_command(Command app, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  Command command =
      app.subcommand("bench", "Measure networks; every axis takes a list and the product is run");
  add_axes(command, options->sweep);
  add_protocol_options(command, options->sweep.shared);
  command.flag("--interleave", options->interleaved,
               "Let the cells take turns, pass by pass, so that all of them meet the same disturbances");
  add_measure_options(command, options->measure);
  command.on_run([options, &context] {
    const Job job = {.cells = expand(to_sweep(options->sweep), usable_cores()),
                     .interleaved = options->interleaved};
    measure_and_report(job, options->measure, context);
  });
}

}  // namespace tacho
