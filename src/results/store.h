#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "results/record.h"
#include "results/sqlite.h"

namespace tacho {

// $XDG_DATA_HOME/tacho/results.db, or ~/.local/share/tacho/results.db.
std::filesystem::path default_store_path();

// Records that last: one SQLite file, one row a record, the whole record as JSON beside a column for each
// plain field (results/fields.h). Several processes may write at once; a record is there for good once add()
// returns.
class Store {
 public:
  // Opens the file, or makes it and its folder. Throws UserError where it is no store of tacho's or a newer
  // one's.
  explicit Store(const std::filesystem::path& path);

  // Each call is one transaction. Records whose id is there already are left alone; returns how many were
  // new.
  int add(std::span<const Record> records);
  int add(const Record& record) { return add({&record, 1}); }

  // In the order in which they were measured.
  std::vector<Record> all();
  // The only id that begins like this. Throws UserError where there is none or more than one.
  std::string find_id(std::string_view id_prefix);
  Record get(std::string_view id);
  // Also a record that can no longer be read.
  void remove(std::string_view id);

 private:
  Record parse(const std::string& id, const std::string& text) const;
  void prepare_file();
  void prepare_columns();

  std::filesystem::path path_;
  Database database_;
};

}  // namespace tacho
