#include "results/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "base/json_values.h"
#include "base/user_folder.h"
#include "results/fields.h"
#include "results/record_json.h"

namespace tacho {
namespace {

constexpr int64_t kApplicationId = 0x74616368;  // "tach"
constexpr int64_t kVersion = 1;

// The others are in the record's JSON only.
bool has_column(const Field& field) { return field.access.plain; }

void bind_json(Statement& statement, int parameter, const Json& value) {
  if (value.is_null()) return statement.bind_null(parameter);
  if (value.is_string()) return statement.bind(parameter, value.get_ref<const std::string&>());
  if (value.is_boolean()) return statement.bind(parameter, int64_t{value.get<bool>()});
  if (value.is_number_integer()) return statement.bind(parameter, value.get<int64_t>());
  statement.bind(parameter, value.get<double>());
}

std::string insert_statement() {
  std::string columns, marks;
  for (const Field& field : fields()) {
    if (!has_column(field)) continue;
    columns += fmt::format("\"{}\", ", field.name);
    marks += "?, ";
  }
  return fmt::format("INSERT OR IGNORE INTO records ({}record) VALUES ({}?)", columns, marks);
}

void insert(Statement& statement, const Record& record) {
  int parameter = 0;
  for (const Field& field : fields()) {
    if (has_column(field)) bind_json(statement, ++parameter, field.access.get(record));
  }
  statement.bind(++parameter, to_text(to_json(record)));
  statement.step();
  statement.reset();
}

// Only what means the same in every schema gets a column.
void insert(Statement& statement, const UnreadRecord& record) {
  const Json json = parse_json(record.json);
  statement.bind(1, id_of(json));
  bind_json(statement, 2, json["schema"]);
  bind_json(statement, 3, json.contains("time") && json["time"].is_string() ? json["time"] : Json());
  statement.bind(4, record.json);
  statement.step();
  statement.reset();
}

std::set<std::string> column_names(Database& database) {
  std::set<std::string> names;
  Statement statement = database.prepare("SELECT name FROM pragma_table_info('records')");
  while (statement.step()) names.insert(statement.text(0));
  return names;
}

// The columns that this version has and the table lacks.
std::vector<std::string_view> missing_columns(Database& database) {
  const std::set<std::string> present = column_names(database);
  std::vector<std::string_view> missing;
  for (const Field& field : fields()) {
    if (has_column(field) && !present.contains(std::string(field.name))) missing.push_back(field.name);
  }
  return missing;
}

std::filesystem::path with_folder(const std::filesystem::path& path) {
  std::error_code error;
  if (path.has_parent_path()) std::filesystem::create_directories(path.parent_path(), error);
  if (error) throw UserError("{}: cannot make its folder: {}", path.string(), error.message());
  return path;
}

}  // namespace

std::filesystem::path default_store_path() {
  const auto folder = user_folder("XDG_DATA_HOME", ".local/share");
  if (!folder) throw UserError("HOME is not set; name the store with --db FILE");
  return *folder / "tacho/results.db";
}

Store::Store(const std::filesystem::path& path) : path_(with_folder(path)), database_(path_) {
  identify();
  if (version_ > kVersion) {
    check_columns();
    return;
  }
  database_.write_ahead();
  database_.run("PRAGMA synchronous = FULL");
  prepare_columns();
}

void Store::identify() {
  const int64_t application = database_.integer("PRAGMA application_id");
  const int64_t tables = database_.integer("SELECT count(*) FROM sqlite_master");
  if (application != kApplicationId && (application != 0 || tables != 0)) {
    throw UserError("{}: is a database, but none of tacho's; name another with --db", path_.string());
  }
  version_ = database_.integer("PRAGMA user_version");
}

// What every version has.
void Store::check_columns() {
  const std::set<std::string> present = column_names(database_);
  for (const char* name : {"id", "time", "record"}) {
    if (present.contains(name)) continue;
    throw UserError("{}: was made by a newer tacho (version {}), and this one finds no column '{}' in it",
                    path_.string(), version_, name);
  }
}

// Fields are only ever added, so an older store lacks columns at most.
void Store::prepare_columns() {
  if (missing_columns(database_).empty()) return;
  Transaction transaction(database_);
  database_.run("CREATE TABLE IF NOT EXISTS records (id TEXT PRIMARY KEY, record TEXT NOT NULL)");
  for (const std::string_view name : missing_columns(database_)) {
    database_.run(fmt::format("ALTER TABLE records ADD COLUMN \"{}\"", name));
  }
  database_.run(fmt::format("PRAGMA application_id = {}", kApplicationId));
  database_.run(fmt::format("PRAGMA user_version = {}", kVersion));
  transaction.commit();
}

int Store::add(std::span<const Record> records, std::span<const UnreadRecord> unread) {
  check_writable();
  Transaction transaction(database_);
  Statement statement = database_.prepare(insert_statement());
  int added = 0;
  for (const Record& record : records) {
    insert(statement, record);
    added += database_.changes();
  }
  Statement carrying =
      database_.prepare("INSERT OR IGNORE INTO records (id, schema, time, record) VALUES (?, ?, ?, ?)");
  for (const UnreadRecord& record : unread) {
    if (!record.newer) continue;
    insert(carrying, record);
    added += database_.changes();
  }
  transaction.commit();
  return added;
}

void Store::check_writable() const {
  if (version_ <= kVersion) return;
  throw UserError(
      "{}: was made by a newer tacho (version {}, this one writes {}) and is only read; name another with "
      "--db",
      path_.string(), version_, kVersion);
}

RecordList Store::all() {
  Statement statement = database_.prepare("SELECT id, record FROM records ORDER BY time, rowid");
  RecordList list;
  while (statement.step()) {
    take_record(parse_json(statement.text(1)), statement.text(0), list);
  }
  return list;
}

std::string Store::find_id(std::string_view id_prefix) {
  Statement statement = database_.prepare("SELECT id FROM records WHERE substr(id, 1, length(?1)) = ?1");
  statement.bind(1, id_prefix);
  std::vector<std::string> ids;
  while (statement.step()) ids.push_back(statement.text(0));
  if (ids.empty()) throw UserError("no result has the id '{}'; `tacho results list` shows them", id_prefix);
  if (ids.size() > 1)
    throw UserError("{} results have ids that begin with '{}'; give more of it", ids.size(), id_prefix);
  return ids.front();
}

std::string Store::text_of(std::string_view id) {
  Statement statement = database_.prepare("SELECT record FROM records WHERE id = ?");
  statement.bind(1, id);
  if (!statement.step()) throw UserError("no result has the id '{}'", id);
  return statement.text(0);
}

void Store::remove(std::string_view id) {
  check_writable();
  Transaction transaction(database_);
  Statement statement = database_.prepare("DELETE FROM records WHERE id = ?");
  statement.bind(1, id);
  statement.step();
  transaction.commit();
}

}  // namespace tacho
