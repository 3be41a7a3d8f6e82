// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The only owner of SQLite handles.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace warpmeter::sqlite {

// A call of SQLite failed: its text, without a file's name. Callers turn it into an InputError.
class Error : public std::runtime_error {
 public:
  Error(const std::string& text, int code) : std::runtime_error(text), code_(code) {}
  int code() const { return code_; }  // extended result code
  bool no_space() const;              // the disk, a quota or a limit on the file's size
  bool busy() const;                  // another process has the file
  bool constraint() const;            // a value that the schema refuses

 private:
  int code_;
};

using Blob = std::span<const std::byte>;
using Cell = std::variant<std::nullptr_t, std::int64_t, double, std::string_view, Blob>;

// A prepared statement. Parameters are bound in order by `bind`, then `run` or `step`.
class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* connection, std::string_view sql, bool persistent);

  // Texts and blobs must live until the next run() or reset(). NaN is stored as NULL by SQLite.
  void bind_cell(int index, std::nullptr_t);
  void bind_cell(int index, std::int64_t value);
  void bind_cell(int index, double value);
  void bind_cell(int index, std::string_view value);
  void bind_cell(int index, Blob value);
  // Not inline: gcc 12 warns of an uninitialized value where there is none.
  void bind_cell(int index, const std::optional<double>& value);
  template <typename T>
  void bind_cell(int index, const std::optional<T>& value) {
    value ? bind_cell(index, *value) : bind_cell(index, nullptr);
  }
  template <typename... T>
  Statement& bind(const T&... values) {
    int index = 0;
    (bind_cell(++index, values), ...);
    return *this;
  }

  bool step();   // true if there is a row
  void run();    // steps to the end and resets; resets also if it throws
  void reset();  // never throws
  int columns() const;
  std::string_view column_name(int column) const;
  Cell cell(int column) const;              // valid until the next step
  std::int64_t integer(int column) const;   // Throws Error if it is not an integer.
  std::string_view text(int column) const;  // Throws Error if it is not text.

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  [[noreturn]] void fail(int code) const;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

enum class Mode { read_only, read_write, create, memory };

class Connection {
 public:
  Connection() = default;
  // Hardened for files of unknown origin: no functions or virtual tables from the schema, no writes
  // to the schema as data, cells checked, values of at most 256 MiB.
  Connection(const std::filesystem::path& file, Mode mode);

  void execute(const std::string& sql);
  Statement prepare(std::string_view sql);
  Statement prepare_persistent(std::string_view sql);  // for statements that are kept and rerun
  std::int64_t integer(std::string_view sql);          // first column of the first row
  std::int64_t last_insert_id() const;
  bool in_transaction() const;
  void close();  // Throws Error.

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace warpmeter::sqlite
