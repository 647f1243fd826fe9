#include "cli/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "bench/runner.h"
#include "capture/bench_record.h"
#include "capture/resume.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/progress.h"
#include "cli/sweep_options.h"
#include "results/format.h"
#include "results/references.h"

namespace tacho {
namespace {

// A run under way: cells and their records.
class Run {
 public:
  Run(const Job& job, const MeasureOptions& options, const CommandContext& context)
      : job_(job), kept_(options, job.suite, context.command), records_(job.cells.size()) {
    if (options.resumed) resume(*options.resumed);
  }

  // Each cell is kept before the next one starts.
  void measure() {
    kept_.observe_machine();
    std::vector<size_t> left;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (!records_[i]) left.push_back(i);
    }
    if (left.empty()) return;
    job_.interleaved ? measure_in_turns(left) : measure_one_by_one(left);
  }

  // Of the finished cells, in the order of all.
  std::vector<Record> finished() const {
    std::vector<Record> records;
    for (const auto& record : records_) {
      if (record) records.push_back(*record);
    }
    return records;
  }

  KeptRun& kept() { return kept_; }

 private:
  void resume(const std::string& id_prefix) {
    if (!kept_.is_kept()) throw UserError("--continue needs the store; leave --no-db out");
    if (job_.interleaved)
      throw UserError("--continue: cells that take turns are measured all at once; leave it out");
    const std::vector<Record> run =
        find_run(*kept_.stored(), id_prefix, {job_.suite, kept_.system().machine_id, kept_.system().name});
    records_ = match_cells(run, job_.cells);
    kept_.continue_as(run.front().run);
  }

  void measure_one_by_one(const std::vector<size_t>& left) {
    Progress progress(cells(left));
    for (size_t i = 0; i < left.size() && !interrupted(); ++i) {
      const RunHooks hooks = {.progress = [&](int pass, int passes) { progress.show(i, pass, passes); },
                              .should_stop = interrupted};
      finish(left[i], run_case(remembering(job_.cells[left[i]]), hooks), "");
    }
  }

  void measure_in_turns(const std::vector<size_t>& left) {
    Progress progress(cells(left));
    const RunHooks hooks = {.progress = [&](int pass, int passes) { progress.show_turns(pass, passes); },
                            .should_stop = interrupted};
    const std::vector<Measurement> measurements = run_interleaved(cells(left), hooks);
    const std::string mark = unique_id();
    for (size_t i = 0; i < left.size(); ++i) finish(left[i], measurements[i], mark);
  }

  std::vector<Case> cells(const std::vector<size_t>& indices) const {
    std::vector<Case> chosen;
    for (const size_t index : indices) chosen.push_back(remembering(job_.cells[index]));
    return chosen;
  }

  void finish(size_t index, const Measurement& measurement, const std::string& interleaved) {
    if (measurement.status == Status::interrupted) return;
    const Case& cell = job_.cells[index];
    Record record = make_record(cell, measurement, kept_.system(), speed_for(cell, measurement));
    record.interleaved = interleaved;
    kept_.keep(record);
    records_[index] = std::move(record);
  }

  // Of as many threads as there are cores for: more do not make the machine faster.
  std::optional<MachineSpeed> speed_for(const Case& cell, const Measurement& measurement) {
    if (measurement.status != Status::measured || measurement.flop == 0) return {};
    return speeds_.with_threads(std::min(cell.threads, usable_cores()));
  }

  const Job& job_;
  KeptRun kept_;
  SpeedCache speeds_;
  std::vector<std::optional<Record>> records_;
};

void say_where(const KeptRun& kept, const Job& job, size_t finished) {
  if (!kept.is_kept() || finished == 0) return;
  if (finished < job.cells.size()) {
    fmt::print(stderr, "tacho: note: {} of {} cells are done; the same call with --continue {} goes on\n",
               finished, job.cells.size(), shown_id(kept.id()));
  }
  kept.say_where();
}

}  // namespace

// It means something else, or breaks a table.
void check_system_name(const std::string& name) {
  const bool printable = std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 0x7f; });
  const bool taken = name == "this" || name.ends_with(".json") || name.ends_with(".jsonl") ||
                     std::ranges::find(reference_sets(), name, &ReferenceSet::name) != reference_sets().end();
  if (!printable || taken || (!name.empty() && trim(name).empty())) {
    throw UserError("--system '{}': must be printable, and neither 'this', a published set nor a .json file",
                    name);
  }
}

void add_keep_options(Command command, MeasureOptions& options) {
  add_output_options(command, options.output);
  add_store_options(command, options.store);
  command.flag("--no-db", options.without_store, "Do not keep the results");
  command.option("--system", options.system, "Name of this machine in the results; default: the host's name");
}

void add_measure_options(Command command, MeasureOptions& options) {
  add_keep_options(command, options);
  command
      .option(
          "--continue", [&](const std::string& run) { options.resumed = run; },
          "Go on with a run that was interrupted: measure only the cells it lacks; default: the last one")
      .expected(0, 1)
      .type_name("RUN");
}

void measure_and_report(const Job& job, const MeasureOptions& options, CommandContext& context) {
  const Format format = chosen_format(options.output);
  check_output(options.output);
  check_system_name(options.system);
  check_cells(job.cells);
  catch_interrupt();
  Run run(job, options, context);
  run.measure();
  const std::vector<Record> records = run.finished();
  if (records.empty()) {
    fmt::print(stderr, "tacho: note: interrupted before the first cell was finished\n");
  } else {
    write_output(options.output, job.present(records, format));
  }
  say_where(run.kept(), job, records.size());
  if (!job.suite.empty() && !records.empty()) run.kept().write_page();
  if (something_failed(records)) context.exit_status = 1;
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
