#pragma once

#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "results/record_list.h"
#include "results/sqlite.h"

namespace tacho {

// $XDG_DATA_HOME/tacho/results.db, or ~/.local/share/tacho/results.db.
std::filesystem::path default_store_path();

// Records that last: one SQLite file, one row a record, the whole record as JSON beside a column for each
// plain field (results/fields.h). Several processes may write at once; a record is there for good once add()
// returns.
class Store {
 public:
  // Opens the file, or makes it and its folder. A newer program's is opened for reading only. Throws
  // UserError where it is no store of tacho's.
  explicit Store(const std::filesystem::path& path);

  // Each call is one transaction. Records whose id is there already are left alone; returns how many were
  // new. Of unread records those of a newer program are kept as they are.
  int add(std::span<const Record> records, std::span<const UnreadRecord> unread = {});
  int add(const Record& record) { return add({&record, 1}); }
  // Throws UserError where add() and remove() would: a newer program's store is left alone.
  void check_writable() const;

  // In the order in which they were measured.
  RecordList all();
  // The only id that begins like this. Throws UserError where there is none or more than one.
  std::string find_id(std::string_view id_prefix);
  // The whole record as it is kept, whether it can be read or not.
  std::string text_of(std::string_view id);
  // Also a record that cannot be read.
  void remove(std::string_view id);

 private:
  void identify();
  void check_columns();
  void prepare_columns();

  std::filesystem::path path_;
  Database database_;
  int64_t version_ = 0;
};

}  // namespace tacho
