#include "bench/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "bench/machine.h"
#include "capture/bench_record.h"
#include "capture/environment.h"
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/sweep_options.h"
#include "report/profile_table.h"
#include "report/trace.h"

namespace tacho {
namespace {

constexpr int kRepeat = 10;
constexpr int64_t kMostRows = 1'000'000;

struct ProfileOptions {
  SweepOptions sweep;
  OutputOptions output;
  std::optional<std::filesystem::path> trace;
  std::optional<size_t> top;
};

Case one_case(const SweepOptions& options) {
  const std::vector<Case> cells = expand(to_sweep(options), usable_cores());
  if (cells.size() != 1) {
    throw UserError("profile takes one network in one way, not {}: give each option one value", cells.size());
  }
  check_cells(cells);
  return remembering(cells.front());
}

void check_files(const ProfileOptions& options) {
  check_output(options.output);
  if (!options.trace) return;
  check_output_file("--trace", *options.trace);
  const auto same = [](const auto& a, const auto& b) {
    return std::filesystem::weakly_canonical(a) == std::filesystem::weakly_canonical(b);
  };
  if (options.output.file && same(*options.trace, *options.output.file)) {
    throw UserError("--trace {}: is the file of -o; name another", options.trace->string());
  }
}

std::optional<Profile> measure(const Case& cell, const std::string& command) {
  SystemInfo system = capture_system("");
  system.warnings = noise_warnings();
  std::optional<ProfileMeasurement> measured;
  {
    Progress progress({cell});
    measured = profile_case(cell, {.progress = [&](int pass, int passes) { progress.show(0, pass, passes); },
                                   .should_stop = interrupted});
  }
  for (const std::string& warning : system.warnings) fmt::print(stderr, "tacho: warning: {}\n", warning);
  if (!measured) return std::nullopt;
  const MachineSpeed speed = SpeedCache().with_threads(std::min(cell.threads, usable_cores()));
  Profile profile = {make_record(cell, measured->pass, system, speed), speed, std::move(measured->layers)};
  profile.pass.command = command;
  return profile;
}

void profile_and_report(const ProfileOptions& options, CommandContext& context) {
  const Format format = chosen_format(options.output);
  check_files(options);
  const Case cell = one_case(options.sweep);
  catch_interrupt();
  const std::optional<Profile> profile = measure(cell, context.command);
  if (!profile) {
    fmt::print(stderr, "tacho: note: interrupted before the last pass, so there is no profile\n");
    context.exit_status = kInterruptedStatus;
    return;
  }
  if (options.trace) write_file_atomically(*options.trace, format_trace(*profile));
  write_output(options.output, format_profile(*profile, format, options.top));
}

void add_case_options(Command command, SweepOptions& options) {
  command.option("model", options.models, "A name of 'tacho models'").required();
  command.option("--mode", options.modes, "infer or train").show_default();
  command.option("--batch", options.batches, "Default: 16, volumes 1");
  command.option("--threads", options.threads, "Default: every usable core");
  command.option("--engine", options.engines, "One that tells its steps").show_default();
  command.option("--image", options.images, "224 or 224x160 or 40x216x216; default: the model's own");
}

}  // namespace

void add_profile_command(Command app, CommandContext& context) {
  auto options = std::make_shared<ProfileOptions>();
  options->sweep.shared.repeat = kRepeat;
  Command command = app.subcommand(
      "profile",
      "Where the time of a pass goes: each layer's kernel, time, GFLOP/s, bytes, % of the roofline");
  add_case_options(command, options->sweep);
  add_protocol_options(command, options->sweep.shared);
  command.option("--top", options->top, "Of table and md: show only so many layers, the most expensive")
      .range(1, kMostRows);
  command.option("--trace", options->trace,
                 "Also write the last pass to this file, for chrome://tracing or Perfetto");
  add_output_options(command, options->output);
  command.on_run([options, &context] { profile_and_report(*options, context); });
}

}  // namespace tacho
