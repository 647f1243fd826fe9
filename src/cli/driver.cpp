#include "cli/driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"
#include "bench/machine.h"
#include "capture/resume.h"
#include "capture/scaling.h"
#include "cli/interrupt.h"
#include "cli/kept_run.h"
#include "cli/progress.h"
#include "cli/start_ranks.h"
#include "distributed/collectives.h"
#include "distributed/seat.h"
#include "engine/engines.h"
#include "results/format.h"
#include "results/references.h"
#include "session/peaks.h"

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

std::string how_to_continue(size_t done, size_t all, const std::string& run) {
  return fmt::format("{} of {} cells are done; the same call with --continue {} goes on", done, all,
                     shown_id(run));
}

// A job under way: its items, and their records so far.
class Run {
 public:
  Run(const Job& job, const KeepOptions& options, Format format, CommandContext& context)
      : job_(job),
        ranks_(context.ranks),
        kept_(options, job.suite, context.command),
        streams_(format == Format::jsonl && !options.output.file && !job.present_to_programs),
        records_(job.items.size()) {
    if (options.resumed && ranks_.is_first()) resume(*options.resumed);
  }

  // Each record is kept before the next item starts.
  void run() {
    if (ranks_.is_first()) kept_.observe_machine();
    for (const auto& records : records_) {
      for (const Record& record : records) stream(record);
    }
    const std::vector<size_t> left = items_left();
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
  // Rank 0 knows what is kept already.
  std::vector<size_t> items_left() const {
    std::string missing;
    for (const auto& records : records_) missing += records.empty() ? '1' : '0';
    missing = broadcast(ranks_.world().all(), missing);
    std::vector<size_t> left;
    for (size_t i = 0; i < missing.size(); ++i) {
      if (missing[i] == '1') left.push_back(i);
    }
    return left;
  }

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
    const DeviceSpeeds peaks = measure_peaks(left);
    std::vector<double> works;
    for (const size_t i : left) works.push_back(job_.items[i]->work());
    Progress progress(std::move(works));
    for (size_t turn = 0; turn < left.size() && !must_end(); ++turn) {
      tell_how_to_go_on();
      run_item(left[turn], context_of(*job_.items[left[turn]], turn, peaks, progress), progress);
    }
  }

  // What one rank is told, all do.
  bool must_end() { return any(ranks_.world().all(), interrupted() || output_failed_); }

  // Should a rank be lost from here on: rank 0 knows what is kept, and may be the one that is lost.
  void tell_how_to_go_on() {
    const size_t done = job_.items.size() - unfinished_items();
    const bool can_continue = kept_.is_kept() && done > 0 && job_.items.front()->description().has_value();
    const std::string words =
        can_continue ? how_to_continue(done, job_.items.size(), kept_.id()) : job_.after_loss;
    ranks_.set_last_words(broadcast(ranks_.world().all(), words));
  }

  ItemContext context_of(const WorkItem& item, size_t turn, const DeviceSpeeds& peaks,
                         Progress& progress) const {
    const auto show = [&progress, turn, is_long = item.is_long()](const std::string& where,
                                                                  std::optional<double> share) {
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
    const auto nothing = [](const auto&...) {};
    if (!ranks_.is_first()) {
      return {.world = ranks_.world(),
              .system = kept_.system(),
              .peaks = peaks,
              .kernel_cache = {},
              .progress = nothing,
              .say = nothing,
              .note = nothing,
              .should_stop = interrupted};
    }
    return {.world = ranks_.world(),
            .system = kept_.system(),
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
        add_scaling(finished(), record);
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
  DeviceSpeeds measure_peaks(const std::vector<size_t>& items) const {
    DeviceSpeeds peaks;
    for (const size_t i : items) {
      for (const DevicesAtWork& needed : job_.items[i]->peaks_needed()) {
        if (!peaks.contains(needed)) peaks[needed] = measure_speed_together(ranks_.world(), needed);
      }
    }
    return peaks;
  }

  void stream(const Record& record) const {
    if (streams_) print_result(format_records({&record, 1}, Format::jsonl));
  }

  const Job& job_;
  Ranks& ranks_;
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
    say_note(how_to_continue(job.items.size() - run.unfinished_items(), job.items.size(), kept.id()));
  }
  kept.say_where();
}

// True where other processes did it all.
bool done_by_started_ranks(const Job& job, CommandContext& context) {
  int devices = 1;
  for (const auto& item : job.items) {
    for (const Execution& execution : item->executions()) devices = std::max(devices, execution.devices);
  }
  const int ranks = context.ranks.world().size();
  if (devices <= ranks) return false;
  if (context.ranks.were_launched()) {
    throw UserError("--devices {}: the launcher gave {} rank{}; ask it for {}", devices, ranks,
                    ranks == 1 ? "" : "s", devices);
  }
  start_ranks(devices, job.after_loss.empty() ? "what was finished is kept" : job.after_loss, context);
  return true;
}

}  // namespace

void add_keep_options(Command command, KeepOptions& options, std::string file_option) {
  add_output_options(command, options.output, kFormats, std::move(file_option));
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

void run_job(const Job& job, const KeepOptions& typed, CommandContext& context) {
  const bool first = context.ranks.is_first();
  KeepOptions options = typed;
  options.without_store |= !first;
  const Layout layout = chosen_layout(options.output);
  if (first) check_output(options.output);
  check_system_name(options.system);
  for (const auto& item : job.items) {
    item->check(first ? say_note : [](const std::string&) {});
    for (const Execution& execution : item->executions()) check_seat(context.ranks.world(), execution);
  }
  if (done_by_started_ranks(job, context)) return;
  catch_interrupt(context.ranks.were_launched());
  Run run(job, options, layout.format, context);
  context.ranks.agree_to_start("");
  run.run();
  if (!first) return;
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
