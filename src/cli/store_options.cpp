#include "cli/store_options.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/file.h"
#include "base/os.h"
#include "results/record_list.h"

namespace tacho {
namespace {

bool is_file(const std::string& name) { return name.ends_with(".json") || name.ends_with(".jsonl"); }

Selection select_file(const std::string& name) {
  const RecordList list = parse_records(read_file(name), name);
  note_unread(list.unread, name, "left out");
  return selection_of(name, list.records);
}

}  // namespace

void add_store_options(Command command, StoreOptions& options) {
  command.option("--db", options.file,
                 "Where results are kept; default: $XDG_DATA_HOME/tacho/results.db, or "
                 "~/.local/share/tacho/results.db");
}

std::filesystem::path store_path(const StoreOptions& options) {
  if (options.file && options.file->empty()) throw UserError("--db: the name of the file is empty");
  return options.file ? *options.file : default_store_path();
}

RecordList stored_list(const StoreOptions& options) {
  const std::filesystem::path path = store_path(options);
  std::error_code ignored;
  return std::filesystem::exists(path, ignored) ? Store(path).all() : RecordList{};
}

std::vector<Record> stored_records(const StoreOptions& options) {
  RecordList list = stored_list(options);
  note_unread(list.unread, store_path(options));
  return std::move(list.records);
}

void note_unread(std::span<const UnreadRecord> unread, const std::filesystem::path& source,
                 std::string_view fate) {
  for (const std::string& note : notes_of(unread, source.string(), fate))
    fmt::print(stderr, "tacho: note: {}\n", note);
}

Store existing_store(const StoreOptions& options) {
  const std::filesystem::path path = store_path(options);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    throw UserError("{}: nothing is kept there yet", path.string());
  return Store(path);
}

void add_filter_options(Command command, RecordFilter& filter) {
  command.option("--model", filter.model, "Only this network's");
  command.option("--system", filter.system, "Only this machine's, or this published set's");
}

std::vector<Record> filtered(std::vector<Record> records, const RecordFilter& filter) {
  std::erase_if(records, [&](const Record& record) {
    const bool other_system = record.system.name != filter.system && record.reference != filter.system;
    return (!filter.model.empty() && record.model != filter.model) ||
           (!filter.system.empty() && other_system);
  });
  return records;
}

std::vector<Selection> select_all(const std::vector<std::string>& names, const StoreOptions& options) {
  const std::vector<Record> stored = stored_records(options);
  std::vector<Selection> selections;
  for (const std::string& name : names) {
    selections.push_back(is_file(name) ? select_file(name) : select_records(name, stored, machine_id()));
  }
  return selections;
}

}  // namespace tacho
