#include "cli/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/cpu.h"
#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "bench/runner.h"
#include "cli/interrupt.h"
#include "cli/page.h"
#include "cli/progress.h"
#include "cli/sweep_options.h"
#include "results/bench_record.h"
#include "results/environment.h"
#include "results/format.h"
#include "results/references.h"
#include "results/resume.h"
#include "results/store.h"

namespace tacho {
namespace {

// A run under way: what its records share, and where they go.
class Run {
 public:
  Run(const Job& job, const MeasureOptions& options, const CommandContext& context)
      : job_(job), command_(context.command), records_(job.cells.size()) {
    if (!options.without_store) store_.emplace(store_path(options.store));
    system_ = capture_system(options.system);
    id_ = unique_id();
    if (options.resumed) resume(*options.resumed);
  }

  // Each cell is kept before the next one starts.
  void measure() {
    observe_machine();
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

  bool is_kept() const { return store_.has_value(); }
  const std::string& id() const { return id_; }

 private:
  void resume(const std::string& id_prefix) {
    if (!store_) throw UserError("--continue needs the store; leave --no-db out");
    if (job_.interleaved)
      throw UserError("--continue: cells that take turns are measured all at once; leave it out");
    const std::vector<Record> run =
        find_run(store_->all(), id_prefix, {job_.suite, system_.machine_id, system_.name});
    records_ = match_cells(run, job_.cells);
    id_ = run.front().run;
  }

  void observe_machine() {
    system_.warnings = noise_warnings();
    for (const std::string& warning : system_.warnings) fmt::print(stderr, "tacho: warning: {}\n", warning);
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
    Record record = make_record(cell, measurement, system_, speed_for(cell, measurement));
    record.run = id_;
    record.suite = job_.suite;
    record.command = command_;
    record.interleaved = interleaved;
    keep(record);
    records_[index] = std::move(record);
  }

  // Of as many threads as there are cores for: more do not make the machine faster.
  std::optional<MachineSpeed> speed_for(const Case& cell, const Measurement& measurement) {
    if (measurement.status != Status::measured || measurement.flop == 0) return {};
    return speeds_.with_threads(std::min(cell.threads, usable_cores()));
  }

  // A store that fails in the middle must not cost what was measured: it is given up, and said so.
  void keep(const Record& record) {
    if (!store_) return;
    try {
      store_->add(record);
    } catch (const UserError& error) {
      fmt::print(stderr, "tacho: warning: this and further results are not kept: {}\n", error.what());
      store_.reset();
    }
  }

  const Job& job_;
  std::string command_, id_;
  SystemInfo system_;
  SpeedCache speeds_;
  std::optional<Store> store_;
  std::vector<std::optional<Record>> records_;
};

bool something_failed(const std::vector<Record>& records) {
  return std::ranges::any_of(records, [](const Record& record) {
    return record.judgement.verdict == Verdict::failed || record.judgement.verdict == Verdict::out_of_memory;
  });
}

void say_where(const Run& run, const Job& job, const std::vector<Record>& records,
               const MeasureOptions& options) {
  if (!run.is_kept()) return;
  if (records.empty()) return;
  if (records.size() < job.cells.size()) {
    fmt::print(stderr, "tacho: note: {} of {} cells are done; the same call with --continue {} goes on\n",
               records.size(), job.cells.size(), shown_id(run.id()));
  }
  fmt::print(stderr, "tacho: note: kept in {} as run {} (`tacho results list`)\n",
             store_path(options.store).string(), shown_id(run.id()));
}

// Beside the store, so that a first look ends in a page to open. What was measured counts more than that.
void write_page_of_store(const Run& run, const MeasureOptions& options) {
  if (!run.is_kept()) return;
  const std::filesystem::path store = store_path(options.store);
  const std::filesystem::path page = std::filesystem::absolute(store).replace_extension(".report.html");
  try {
    write_page(
        page, Store(store).all(), true,
        fmt::format("tacho report --db {} -o {}", shell_quoted(store.string()), shell_quoted(page.string())));
    fmt::print(stderr, "tacho: note: the page to open in a browser is {}\n", page.string());
  } catch (const UserError& error) {
    fmt::print(stderr, "tacho: warning: no page was written: {}\n", error.what());
  }
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

void add_keep_options(CLI::App& command, MeasureOptions& options) {
  add_output_options(command, options.output);
  add_store_options(command, options.store);
  command.add_flag("--no-db", options.without_store, "Do not keep the results");
  command.add_option("--system", options.system,
                     "Name of this machine in the results; default: the host's name");
}

void add_measure_options(CLI::App& command, MeasureOptions& options) {
  add_keep_options(command, options);
  command
      .add_option_function<std::string>(
          "--continue", [&](const std::string& run) { options.resumed = run; },
          "Go on with a run that was interrupted: measure only the cells it lacks; default: the last one")
      ->expected(0, 1)
      ->type_name("RUN");
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
  say_where(run, job, records, options);
  if (!job.suite.empty() && !records.empty()) write_page_of_store(run, options);
  if (something_failed(records)) context.exit_status = 1;
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
