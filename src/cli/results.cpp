#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

#include "base/error.h"
#include "base/file.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/store_options.h"
#include "results/record_json.h"
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

std::vector<Record> chosen_records(const ResultsOptions& options) {
  return filtered(options.references ? reference_records() : stored_records(options.store), options.filter);
}

// More than a thousand rows are for programs; people first want to know what there is.
bool lists_sets(const ResultsOptions& options, Format format) {
  return options.references && options.filter.model.empty() && options.filter.system.empty() &&
         is_for_people(format);
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
    const Format format = chosen_format(options->output);
    check_output(options->output);
    if (lists_sets(*options, format)) return write_output(options->output, render(sets_grid(), format));
    const std::vector<Record> records = chosen_records(*options);
    if (records.empty()) {
      const bool filtered_out = !options->filter.model.empty() || !options->filter.system.empty();
      fmt::print(stderr, "tacho: note: {}\n",
                 filtered_out ? "no result has that model and system"
                              : fmt::format("nothing is kept in {}", store_path(options->store).string()));
    }
    write_output(options->output, format_records(records, format, true));
  });
}

// A published result by its whole id, or a kept one by how its id begins.
Record find_record(const ResultsOptions& options) {
  for (const ReferenceSet& set : reference_sets()) {
    const auto found = std::ranges::find(set.records, options.id, &Record::id);
    if (found != set.records.end()) return *found;
  }
  Store store = existing_store(options.store);
  return store.get(store.find_id(options.id));
}

void add_show(Command results, const Options& options) {
  Command command = add(results, options, "show", "One result, whole, as JSON");
  command.option("id", options->id, "Its id, or how that begins").required();
  command.on_run([options] { print_result(to_text(to_json(find_record(*options)), 2) + "\n"); });
}

// Published results come with the program; one's own must not pass for them.
std::vector<Record> own_records(const std::filesystem::path& file) {
  std::vector<Record> records = parse_records(read_file(file), file.string());
  for (const Record& record : records) {
    if (record.reference.empty()) continue;
    throw UserError("{}: record {} is a published one of {}, which every tacho has", file.string(), record.id,
                    record.reference);
  }
  return records;
}

void add_import(Command results, const Options& options) {
  Command command = add(results, options, "import", "Take in the results of a JSON file, each once");
  command.option("file", options->file, "Of --format json or jsonl, or of 'results export'").required();
  command.on_run([options] {
    const std::vector<Record> records = own_records(options->file);
    const int added = Store(store_path(options->store)).add(records);
    fmt::print(stderr, "tacho: note: {} new results, {} were there already\n", added,
               records.size() - static_cast<size_t>(added));
  });
}

void add_export(Command results, const Options& options) {
  Command command = add(results, options, "export", "Results as JSON, to be imported elsewhere");
  add_filter_options(command, options->filter);
  command.option("-o,--output", options->output.file, "Write to this file instead of stdout");
  command.on_run([options] {
    check_output(options->output);
    write_output(options->output, format_records(chosen_records(*options), Format::json));
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

void add_results_command(Command app, CommandContext&) {
  auto options = std::make_shared<ResultsOptions>();
  Command results = app.subcommand("results", "List, show, import, export or delete what was measured");
  results.require_subcommand();
  add_list(results, options);
  add_show(results, options);
  add_import(results, options);
  add_export(results, options);
  add_delete(results, options);
}

}  // namespace tacho
