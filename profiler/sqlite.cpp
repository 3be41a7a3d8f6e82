// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/sqlite.h"

#include <sqlite3.h>

namespace warpmeter::sqlite {
namespace {

constexpr int max_value_bytes = 256 << 20;

[[noreturn]] void fail_with(sqlite3* connection, int code) {
  if (connection == nullptr) throw Error(sqlite3_errstr(code), code);
  throw Error(sqlite3_errmsg(connection), sqlite3_extended_errcode(connection));
}

int flags(Mode mode) {
  switch (mode) {
    case Mode::read_only:
      return SQLITE_OPEN_READONLY;
    case Mode::read_write:
      return SQLITE_OPEN_READWRITE;
    case Mode::create:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case Mode::memory:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY;
  }
  return 0;
}

}  // namespace

bool Error::no_space() const {
  // SQLite reports a limit on the file's size (EFBIG) and a quota as errors of write.
  return (code_ & 0xff) == SQLITE_FULL || code_ == SQLITE_IOERR_WRITE ||
         code_ == SQLITE_IOERR_TRUNCATE || code_ == SQLITE_IOERR_FSYNC;
}

bool Error::busy() const { return (code_ & 0xff) == SQLITE_BUSY; }

bool Error::constraint() const {
  const int primary = code_ & 0xff;
  return primary == SQLITE_CONSTRAINT || primary == SQLITE_MISMATCH || primary == SQLITE_TOOBIG;
}

Statement::Statement(sqlite3* connection, std::string_view sql, bool persistent) {
  sqlite3_stmt* statement = nullptr;
  const int code =
      sqlite3_prepare_v3(connection, sql.data(), static_cast<int>(sql.size()),
                         persistent ? SQLITE_PREPARE_PERSISTENT : 0, &statement, nullptr);
  statement_.reset(statement);
  if (code != SQLITE_OK) fail_with(connection, code);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::fail(int code) const { fail_with(sqlite3_db_handle(statement_.get()), code); }

void Statement::bind_cell(int index, std::nullptr_t) {
  const int code = sqlite3_bind_null(statement_.get(), index);
  if (code != SQLITE_OK) fail(code);
}

void Statement::bind_cell(int index, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_.get(), index, value);
  if (code != SQLITE_OK) fail(code);
}

void Statement::bind_cell(int index, double value) {
  const int code = sqlite3_bind_double(statement_.get(), index, value);
  if (code != SQLITE_OK) fail(code);
}

void Statement::bind_cell(int index, const std::optional<double>& value) {
  value ? bind_cell(index, *value) : bind_cell(index, nullptr);
}

void Statement::bind_cell(int index, std::string_view value) {
  const char* text = value.data() == nullptr ? "" : value.data();
  const int code =
      sqlite3_bind_text64(statement_.get(), index, text, value.size(), SQLITE_STATIC, SQLITE_UTF8);
  if (code != SQLITE_OK) fail(code);
}

void Statement::bind_cell(int index, Blob value) {
  const void* data = value.empty() ? static_cast<const void*>("") : value.data();
  const int code = sqlite3_bind_blob64(statement_.get(), index, data, value.size(), SQLITE_STATIC);
  if (code != SQLITE_OK) fail(code);
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  fail(code);
}

void Statement::run() {
  int code = sqlite3_step(statement_.get());
  while (code == SQLITE_ROW) code = sqlite3_step(statement_.get());
  if (code == SQLITE_DONE) return reset();
  const Error error(sqlite3_errmsg(sqlite3_db_handle(statement_.get())),
                    sqlite3_extended_errcode(sqlite3_db_handle(statement_.get())));
  reset();
  throw error;
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

int Statement::columns() const { return sqlite3_column_count(statement_.get()); }

std::string_view Statement::column_name(int column) const {
  const char* name = sqlite3_column_name(statement_.get(), column);
  return name == nullptr ? "" : name;
}

Cell Statement::cell(int column) const {
  sqlite3_stmt* statement = statement_.get();
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      if (text == nullptr) throw Error("out of memory", SQLITE_NOMEM);
      return std::string_view(text,
                              static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
    case SQLITE_BLOB: {
      const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(statement, column));
      return Blob(data, data == nullptr
                            ? 0
                            : static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
    default:
      return nullptr;
  }
}

std::int64_t Statement::integer(int column) const {
  const Cell value = cell(column);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  throw Error("column " + std::string(column_name(column)) + " is not an integer", SQLITE_MISMATCH);
}

std::string_view Statement::text(int column) const {
  const Cell value = cell(column);
  if (const auto* text = std::get_if<std::string_view>(&value)) return *text;
  throw Error("column " + std::string(column_name(column)) + " is not text", SQLITE_MISMATCH);
}

void Connection::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Connection::Connection(const std::filesystem::path& file, Mode mode) {
  sqlite3* connection = nullptr;
  const int code =
      sqlite3_open_v2(file.c_str(), &connection, flags(mode) | SQLITE_OPEN_NOMUTEX, nullptr);
  connection_.reset(connection);
  if (code != SQLITE_OK) fail_with(connection, code);
  sqlite3_extended_result_codes(connection, 1);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, max_value_bytes);
  execute("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0;");
}

void Connection::execute(const std::string& sql) {
  const int code = sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail_with(connection_.get(), code);
}

Statement Connection::prepare(std::string_view sql) {
  return Statement(connection_.get(), sql, false);
}

Statement Connection::prepare_persistent(std::string_view sql) {
  return Statement(connection_.get(), sql, true);
}

std::int64_t Connection::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  if (!statement.step()) throw Error("no row", SQLITE_EMPTY);
  return statement.integer(0);
}

std::int64_t Connection::last_insert_id() const {
  return sqlite3_last_insert_rowid(connection_.get());
}

bool Connection::in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }

void Connection::close() {
  if (!connection_) return;
  sqlite3* connection = connection_.get();
  const int code = sqlite3_close(connection);
  if (code != SQLITE_OK) fail_with(connection, code);
  (void)connection_.release();
}

}  // namespace warpmeter::sqlite
