#include <memory>

#include "base/cpu.h"
#include "base/error.h"
#include "base/file.h"
#include "cli/axis_options.h"
#include "cli/commands.h"
#include "cli/driver.h"
#include "cli/output.h"
#include "report/profile_table.h"
#include "report/simulation_table.h"
#include "report/trace.h"
#include "session/bench_items.h"

namespace tacho {
namespace {

constexpr const char* kRepeat = "10";
constexpr int64_t kMostRows = 1'000'000;

struct ProfileOptions {
  SweepOptions sweep;
  OutputOptions output;
  std::optional<std::filesystem::path> trace;
  std::optional<int64_t> top;
  std::optional<int> threads_simulated;
};

Case one_case(const SweepOptions& options, const World& world) {
  const std::vector<Case> cells = expand(options, world);
  if (cells.size() != 1) {
    throw UserError("profile takes one network in one way, not {}: give each option one value", cells.size());
  }
  return cells.front();
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

void profile_and_report(const ProfileOptions& options, CommandContext& context) {
  if (context.ranks.is_first()) check_files(options);
  std::optional<Profile> profile;
  const auto present = [&](std::span<const Record> records, const Layout& layout) {
    profile->pass = records.front();
    const auto format = profile->simulation ? format_simulation : format_profile;
    return format(*profile, layout, options.top);
  };
  const Job job = {.items = profile_item(one_case(options.sweep, context.ranks.world()),
                                         options.threads_simulated, profile),
                   .first_result = "the last pass, so there is no profile",
                   .present = present,
                   .present_to_programs = present};
  run_job(job, {.output = options.output, .store = {}, .without_store = true, .system = {}, .resumed = {}},
          context);
  if (profile && options.trace) write_file_atomically(*options.trace, format_trace(*profile));
}

}  // namespace

void add_profile_command(Command app, CommandContext& context) {
  auto options = std::make_shared<ProfileOptions>();
  options->sweep.axes["repeat"] = kRepeat;
  options->sweep.axes["devices"] = "1";  // whatever a launcher gives
  Command command = app.subcommand(
      "profile",
      "Where the time of a pass goes: each layer's kernel, time, GFLOP/s, bytes, % of the roofline");
  add_axes(command, options->sweep);
  command
      .option("--top", options->top,
              "Of table and md: show only so many layers, or steps, the most expensive")
      .range(1, kMostRows);
  command.option("--trace", options->trace,
                 "Also write the last pass to this file, for chrome://tracing or Perfetto");
  command
      .option("--threads-simulated", options->threads_simulated,
              "Instead show how so many threads would share each step: work items and the largest share")
      .range(1, kMostThreads);
  add_output_options(command, options->output);
  command.on_run([options, &context] { profile_and_report(*options, context); });
}

}  // namespace tacho
