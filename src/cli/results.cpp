#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "base/json_values.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"
#include "results/record_json.h"
#include "results/record_list.h"
#include "results/references.h"
#include "results/store.h"

namespace tacho {
namespace {

struct ResultsOptions {
  StoreOptions store;
  OutputOptions output;
  RecordFilter filter;
  bool references = false;
  std::string id;
  std::vector<std::string> ids;
  std::filesystem::path file;
};

using Options = std::shared_ptr<ResultsOptions>;

bool is_filtered(const ResultsOptions& options) {
  return !options.filter.model.empty() || !options.filter.system.empty();
}

// What cannot be read is said.
RecordList chosen_records(const ResultsOptions& options) {
  RecordList list =
      options.references ? RecordList{.records = reference_records()} : stored_list(options.store);
  if (!list.unread.empty()) note_unread(list.unread, store_path(options.store));
  list.records = filtered(std::move(list.records), options.filter);
  return list;
}

// More than a thousand rows are for programs; people first want to know what there is.
bool lists_sets(const ResultsOptions& options, Format format) {
  return options.references && !is_filtered(options) && is_for_people(format);
}

Grid sets_grid() {
  Grid grid = {.columns = {{"name"}, {"results", true}, {"systems", true}, {"what"}, {"source"}}, .rows = {}};
  for (const ReferenceSet& set : reference_sets()) {
    std::set<std::string> systems;
    for (const Record& record : set.records) systems.insert(record.system.name);
    grid.rows.push_back({set.name, std::to_string(set.records.size()), std::to_string(systems.size()),
                         set.title, set.source});
  }
  return grid;
}

Command add(Command results, const Options& options, const char* name, const char* purpose) {
  Command command = results.subcommand(name, purpose);
  add_store_options(command, options->store);
  return command;
}

void add_list(Command results, const Options& options) {
  Command command = add(results, options, "list", "What is kept, oldest first");
  add_filter_options(command, options->filter);
  command.flag("--references", options->references,
               "The published results that come with the program; without a filter, their sets");
  add_output_options(command, options->output);
  command.on_run([options] {
    const Layout layout = chosen_layout(options->output);
    check_output(options->output);
    if (lists_sets(*options, layout.format))
      return write_output(options->output, render(sets_grid(), layout));
    const RecordList list = chosen_records(*options);
    if (list.records.empty() && is_filtered(*options)) {
      fmt::print(stderr, "tacho: note: no result has that model and system\n");
    } else if (list.records.empty() && list.unread.empty()) {
      fmt::print(stderr, "tacho: note: nothing is kept in {}\n", store_path(options->store).string());
    }
    write_output(options->output, format_records(list.records, layout, true));
  });
}

// A published result by its whole id, or a kept one by how its id begins; as it is where it cannot be read.
std::string find_text(const ResultsOptions& options) {
  for (const ReferenceSet& set : reference_sets()) {
    const auto found = std::ranges::find(set.records, options.id, &Record::id);
    if (found != set.records.end()) return to_text(to_json(*found), 2);
  }
  Store store = existing_store(options.store);
  const std::string id = store.find_id(options.id), text = store.text_of(id);
  const Json json = parse_json(text);
  RecordList list;
  take_record(json, id, list);
  note_unread(list.unread, store_path(options.store));
  return json.is_discarded() ? text : to_text(json, 2);
}

void add_show(Command results, const Options& options) {
  Command command = add(results, options, "show", "One result, whole, as JSON");
  command.option("id", options->id, "Its id, or how that begins").required();
  command.on_run([options] { print_result(find_text(*options) + "\n"); });
}

// Published results come with the program; one's own must not pass for them.
void set_published_aside(RecordList& list) {
  for (const Record& record : list.records) {
    if (record.reference.empty()) continue;
    list.unread.push_back(
        {.name = fmt::format("record {}", record.id),
         .reason = fmt::format("is a published one of {}, which every tacho has", record.reference)});
  }
  std::erase_if(list.records, [](const Record& record) { return !record.reference.empty(); });
}

// Takes what can be read, and what a newer program can read. Whether that was all.
bool import_file(const ResultsOptions& options) {
  RecordList list = parse_records(read_file(options.file), options.file.string());
  set_published_aside(list);
  check_useful(list, options.file.string());
  const int added = Store(store_path(options.store)).add(list.records, list.unread);
  const auto damaged = std::ranges::stable_partition(list.unread, &UnreadRecord::newer);
  const std::span newer(list.unread.begin(), damaged.begin());
  note_unread(newer, options.file);
  for (const UnreadRecord& record : damaged) {
    fmt::print(stderr, "tacho: note: {} of {} was not taken: it {}\n", record.name, options.file.string(),
               record.reason);
  }
  fmt::print(stderr, "tacho: note: {} new results, {} were there already\n", added,
             list.records.size() + newer.size() - static_cast<size_t>(added));
  return damaged.empty();
}

void add_import(Command results, const Options& options, CommandContext& context) {
  Command command = add(results, options, "import", "Take in the results of a JSON file, each once");
  command.option("file", options->file, "Of --format json or jsonl, or of 'results export'").required();
  command.on_run([options, &context] {
    if (!import_file(*options)) context.exit_status = 1;
  });
}

// With what a newer program wrote, unless only some are wanted: of those nobody here knows which they are.
Json exported(const ResultsOptions& options) {
  const RecordList list = chosen_records(options);
  Json records = Json::array();
  for (const Record& record : list.records) records.push_back(to_json(record));
  for (const UnreadRecord& record : list.unread) {
    if (record.newer && !is_filtered(options)) records.push_back(parse_json(record.json));
  }
  return records;
}

void add_export(Command results, const Options& options) {
  Command command = add(results, options, "export", "Results as JSON, to be imported elsewhere");
  add_filter_options(command, options->filter);
  command.option("-o,--output", options->output.file, "Write to this file instead of stdout");
  command.on_run([options] {
    check_output(options->output);
    write_output(options->output, format_objects(exported(*options), Format::json));
  });
}

void add_delete(Command results, const Options& options) {
  Command command = add(results, options, "delete", "Remove results for good");
  command.option("ids", options->ids, "Their ids, or how those begin").required();
  command.on_run([options] {
    Store store = existing_store(options->store);
    std::vector<std::string> found;
    for (const std::string& id : options->ids) found.push_back(store.find_id(id));
    for (const std::string& id : found) store.remove(id);
  });
}

}  // namespace

void add_results_command(Command app, CommandContext& context) {
  auto options = std::make_shared<ResultsOptions>();
  Command results = app.subcommand("results", "List, show, import, export or delete what was measured");
  results.require_subcommand();
  add_list(results, options);
  add_show(results, options);
  add_import(results, options, context);
  add_export(results, options);
  add_delete(results, options);
}

}  // namespace tacho
