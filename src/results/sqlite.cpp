#include "results/sqlite.h"

#include <chrono>
#include <thread>

#include "base/error.h"

namespace tacho {
namespace {

constexpr int kPatience_ms = 120'000;

}  // namespace

Database::Database(std::filesystem::path path) : path_(std::move(path)) {
  sqlite3* handle = nullptr;
  const int status =
      sqlite3_open_v2(path_.c_str(), &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  handle_.reset(handle);
  if (status != SQLITE_OK) fail();
  sqlite3_busy_timeout(handle, kPatience_ms);
}

// Of several connections that switch at the same moment each reads what another wants to write: SQLite does
// not wait then, however patient.
void Database::write_ahead() {
  const auto patience = std::chrono::milliseconds(kPatience_ms), pause = std::chrono::milliseconds(5);
  const auto end = std::chrono::steady_clock::now() + patience;
  int status;
  while ((status = sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr)) ==
             SQLITE_BUSY &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(pause);
  }
  if (status != SQLITE_OK) fail();
}

void Database::fail() const {
  throw UserError("{}: {}", path_.string(), handle_ ? sqlite3_errmsg(handle_.get()) : "cannot be opened");
}

Statement Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(handle_.get(), sql.data(), static_cast<int>(sql.size()), &statement, nullptr) !=
      SQLITE_OK) {
    fail();
  }
  return {*this, statement};
}

void Database::run(std::string_view sql) {
  Statement statement = prepare(sql);
  while (statement.step()) {
  }
}

int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  if (!statement.step()) fail();
  return statement.integer(0);
}

void Statement::check(int status) const {
  if (status != SQLITE_OK) database_.fail();
}

void Statement::bind(int parameter, std::string_view text) {
  check(sqlite3_bind_text(handle_.get(), parameter, text.data(), static_cast<int>(text.size()),
                          SQLITE_TRANSIENT));
}
void Statement::bind(int parameter, double number) {
  check(sqlite3_bind_double(handle_.get(), parameter, number));
}
void Statement::bind(int parameter, int64_t number) {
  check(sqlite3_bind_int64(handle_.get(), parameter, number));
}
void Statement::bind_null(int parameter) { check(sqlite3_bind_null(handle_.get(), parameter)); }

bool Statement::step() {
  const int status = sqlite3_step(handle_.get());
  if (status != SQLITE_ROW && status != SQLITE_DONE) database_.fail();
  return status == SQLITE_ROW;
}

std::string Statement::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(handle_.get(), column));
  return text == nullptr
             ? ""
             : std::string(text, static_cast<size_t>(sqlite3_column_bytes(handle_.get(), column)));
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.run("ROLLBACK");
  } catch (const UserError&) {
    // The connection is gone, and the transaction with it.
  }
}

void Transaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

}  // namespace tacho
