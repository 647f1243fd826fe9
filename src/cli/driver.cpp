#include "cli/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "capture/resume.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/progress.h"
#include "engine/engines.h"
#include "kernels/peak/peak.h"
#include "results/format.h"
#include "results/references.h"

namespace tacho {
namespace {

void say_note(const std::string& text) { fmt::print(stderr, "tacho: note: {}\n", text); }

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

// A job under way: its items, and their records so far.
class Run {
 public:
  Run(const Job& job, const KeepOptions& options, Format format, const std::string& command)
      : job_(job),
        kept_(options, job.suite, command),
        streams_(format == Format::jsonl && !options.output.file && !job.present_to_programs),
        records_(job.items.size()) {
    if (options.resumed) resume(*options.resumed);
  }

  // Each record is kept before the next item starts.
  void run() {
    kept_.observe_machine();
    for (const auto& records : records_) {
      for (const Record& record : records) stream(record);
    }
    std::vector<size_t> left;
    for (size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].empty()) left.push_back(i);
    }
    if (!left.empty()) run_items(left);
  }

  // Of the finished items, in the order of all.
  std::vector<Record> finished() const {
    std::vector<Record> all;
    for (const auto& records : records_) all.insert(all.end(), records.begin(), records.end());
    return all;
  }
  size_t unfinished_items() const {
    return static_cast<size_t>(std::ranges::count_if(records_, [](const auto& r) { return r.empty(); }));
  }

  KeptRun& kept() { return kept_; }
  const KeptRun& kept() const { return kept_; }
  // Whether each record was printed as it was finished.
  bool streams() const { return streams_; }
  // The first thing that the user asked for and that could not be done.
  const std::optional<UserError>& error() const { return error_; }

 private:
  void resume(const std::string& id_prefix) {
    if (!kept_.is_kept()) throw UserError("--continue needs a store that can be written; leave --no-db out");
    std::vector<Record> wanted;
    for (const auto& item : job_.items) {
      const auto description = item->description();
      if (!description) throw UserError("--continue: this is measured all at once; leave it out");
      wanted.push_back(*description);
    }
    const std::vector<Record> run =
        find_run(*kept_.stored(), id_prefix, {job_.suite, kept_.system().machine_id, kept_.system().name});
    const auto matched = match_records(run, wanted);
    for (size_t i = 0; i < matched.size(); ++i) {
      if (matched[i]) records_[i] = {*matched[i]};
    }
    kept_.continue_as(run.front().run);
  }

  void run_items(const std::vector<size_t>& left) {
    const std::map<int, MachineSpeed> peaks = measure_peaks(left);
    std::vector<double> works;
    for (const size_t i : left) works.push_back(job_.items[i]->work());
    Progress progress(std::move(works));
    for (size_t turn = 0; turn < left.size() && !interrupted() && !output_failed_; ++turn) {
      run_item(left[turn], context_of(*job_.items[left[turn]], turn, peaks, progress), progress);
    }
  }

  ItemContext context_of(const WorkItem& item, size_t turn, const std::map<int, MachineSpeed>& peaks,
                         Progress& progress) const {
    const auto show = [&progress, turn, is_long = item.is_long()](const std::string& where, double share) {
      progress.show(turn, is_long, where, share);
    };
    const auto say = [&progress](const std::string& line) {
      progress.clear();
      fmt::print(stderr, "{}\n", line);
    };
    const auto note = [&progress](const std::string& text) {
      progress.clear();
      say_note(text);
    };
    return {.system = kept_.system(),
            .peaks = peaks,
            .kernel_cache = default_kernel_cache(),
            .progress = show,
            .say = say,
            .note = note,
            .should_stop = interrupted};
  }

  // Whatever goes wrong with one item, or with printing it, what was measured is kept.
  void run_item(size_t index, const ItemContext& context, const Progress& progress) {
    try {
      job_.items[index]->run(context, [&](Record record) {
        progress.clear();
        kept_.keep(record);
        records_[index].push_back(std::move(record));
      });
    } catch (const UserError& error) {
      if (!error_) error_ = error;
    }
    try {
      for (const Record& record : records_[index]) stream(record);
    } catch (const UserError& error) {
      output_failed_ = true;
      error_ = error;
    }
  }

  // Before the first item, so that none is disturbed by it.
  std::map<int, MachineSpeed> measure_peaks(const std::vector<size_t>& items) const {
    std::map<int, MachineSpeed> peaks;
    for (const size_t i : items) {
      for (const int threads : job_.items[i]->peak_threads()) {
        if (!peaks.contains(threads) && !interrupted()) peaks[threads] = measure_speed(threads);
      }
    }
    return peaks;
  }

  void stream(const Record& record) const {
    if (streams_) print_result(format_records({&record, 1}, Format::jsonl));
  }

  const Job& job_;
  KeptRun kept_;
  bool streams_;
  std::vector<std::vector<Record>> records_;  // by item
  std::optional<UserError> error_;
  bool output_failed_ = false;
};

std::string shown(const Job& job, std::span<const Record> records, const Layout& layout) {
  const Present& present = is_for_people(layout.format) ? job.present : job.present_to_programs;
  return present ? present(records, layout) : format_records(records, layout);
}

void say_where(const Run& run, const Job& job) {
  const KeptRun& kept = run.kept();
  if (!kept.is_kept()) return;
  const bool can_continue =
      std::ranges::all_of(job.items, [](const auto& i) { return i->description().has_value(); });
  if (run.unfinished_items() > 0 && can_continue) {
    say_note(fmt::format("{} of {} cells are done; the same call with --continue {} goes on",
                         job.items.size() - run.unfinished_items(), job.items.size(), shown_id(kept.id())));
  }
  kept.say_where();
}

}  // namespace

void add_keep_options(Command command, KeepOptions& options) {
  add_output_options(command, options.output);
  add_store_options(command, options.store);
  command.flag("--no-db", options.without_store, "Do not keep the results");
  command.option("--system", options.system, "Name of this machine in the results; default: the host's name");
}

void add_continue_option(Command command, KeepOptions& options) {
  command
      .option(
          "--continue", [&](const std::string& run) { options.resumed = run; },
          "Go on with a run that was interrupted: measure only the cells it lacks; default: the last one")
      .expected(0, 1)
      .type_name("RUN");
}

void run_job(const Job& job, const KeepOptions& options, CommandContext& context) {
  const Layout layout = chosen_layout(options.output);
  check_output(options.output);
  check_system_name(options.system);
  for (const auto& item : job.items) item->check(say_note);
  catch_interrupt();
  Run run(job, options, layout.format, context.command);
  run.run();
  const std::vector<Record> records = run.finished();
  if (records.empty() && run.error()) throw *run.error();
  if (records.empty()) {
    say_note(fmt::format("interrupted before {}", job.first_result));
  } else {
    if (!run.streams()) write_output(options.output, shown(job, records, layout));
    say_where(run, job);
    if (!job.suite.empty()) run.kept().write_page();
  }
  if (run.error()) throw *run.error();
  if (something_failed(records)) context.exit_status = 1;
  if (interrupted()) context.exit_status = kInterruptedStatus;
}

}  // namespace tacho
