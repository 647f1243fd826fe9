#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "results/selection.h"
#include "results/store.h"

namespace tacho {

struct StoreOptions {
  std::optional<std::filesystem::path> file;  // default: default_store_path()
};

void add_store_options(Command command, StoreOptions& options);

std::filesystem::path store_path(const StoreOptions& options);

// What is kept; nothing where there is no store yet. Whoever only reads does not make one.
RecordList stored_list(const StoreOptions& options);
// Of it what can be read; the rest is a note.
std::vector<Record> stored_records(const StoreOptions& options);

// Says on stderr which records cannot be read; `fate` is what happens to them.
void note_unread(std::span<const UnreadRecord> unread, const std::filesystem::path& source,
                 std::string_view fate = "kept");

// The store, which must be there.
Store existing_store(const StoreOptions& options);

// Which records are wanted; empty: all.
struct RecordFilter {
  std::string model, system;
};

void add_filter_options(Command command, RecordFilter& filter);

std::vector<Record> filtered(std::vector<Record> records, const RecordFilter& filter);

// What a name of results/selection.h may be, and a file of results.
inline constexpr const char* kSelectionHelp =
    "'this' machine, a run's id, a system, an engine, a published set (tacho results list --references) or a "
    ".json file of results; /FIELD=VALUE behind it, as in this/threads=1, leaves only such records";

// A name that ends in .json or .jsonl is a file of results; the others are looked up in the store.
std::vector<Selection> select_all(const std::vector<std::string>& names, const StoreOptions& options);

}  // namespace tacho
