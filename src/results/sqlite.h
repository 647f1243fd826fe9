#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace tacho {

class Statement;

// A connection to an SQLite file. Everything that fails throws UserError with the file's name.
class Database {
 public:
  // Opens or creates. Waits for other writers rather than failing.
  explicit Database(std::filesystem::path path);

  // From now on what is written goes to a file of its own first, and readers do not wait for writers.
  void write_ahead();

  Statement prepare(std::string_view sql);
  void run(std::string_view sql);
  int64_t integer(std::string_view sql);  // the only value of a query
  // Rows changed by the last statement.
  int changes() const { return sqlite3_changes(handle_.get()); }

  [[noreturn]] void fail() const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const { sqlite3_close(handle); }
  };
  std::filesystem::path path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// A prepared statement; parameters count from 1, columns from 0.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

  void bind(int parameter, std::string_view text);
  void bind(int parameter, double number);
  void bind(int parameter, int64_t number);
  void bind_null(int parameter);

  // Whether there is a row.
  bool step();
  void reset() { sqlite3_reset(handle_.get()); }
  std::string text(int column) const;
  int64_t integer(int column) const { return sqlite3_column_int64(handle_.get(), column); }

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }
  };
  void check(int status) const;

  Database& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Takes the right to write at once; rolls back unless committed.
class Transaction {
 public:
  explicit Transaction(Database& database) : database_(database) { database.run("BEGIN IMMEDIATE"); }
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tacho
