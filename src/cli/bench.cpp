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

void add_axes(CLI::App& command, SweepOptions& options) {
  command.add_option("models", options.models, "Names of 'tacho models'")->required();
  command.add_option("--mode", options.modes, "infer, train or both")->capture_default_str();
  command.add_option("--batch", options.batches,
                     "Per device: 16,32 or 1-8 or 16-2048*2; default: 16, volumes 1");
  command.add_option("--devices", options.devices)->capture_default_str();
  command.add_option("--threads", options.threads, "Per device; default: usable cores / devices");
  command.add_option("--engine", options.engines, "Of those 'tacho system' lists")->capture_default_str();
  command.add_option("--image", options.images, "224 or 224x160 or 40x216x216; default: the model's own");
}

}  // namespace

void add_bench_command(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App* command =
      app.add_subcommand("bench", "Measure networks; every axis takes a list and the product is run");
  add_axes(*command, options->sweep);
  add_protocol_options(*command, options->sweep.shared);
  command->add_flag("--interleave", options->interleaved,
                    "Let the cells take turns, pass by pass, so that all of them meet the same disturbances");
  add_measure_options(*command, options->measure);
  command->callback([options, &context] {
    const Job job = {.cells = expand(to_sweep(options->sweep), usable_cores()),
                     .interleaved = options->interleaved};
    measure_and_report(job, options->measure, context);
  });
}

}  // namespace tacho
