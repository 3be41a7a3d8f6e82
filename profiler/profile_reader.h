// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/run.h"
#include "profiler/sqlite.h"

namespace warpmeter {

// How much of a file is looked at when it is opened.
enum class Integrity {
  structure,  // header and schema; damage elsewhere is found when it is read
  all_pages   // reads the file once: no page is missing or used twice
};

// A row of a scan. Columns are counted from 0 in the order that was asked for. Text and blobs are
// valid until the callback returns. Each throws InputError if the value is of another type.
class ProfileRow {
 public:
  explicit ProfileRow(const sqlite::Statement& statement) : statement_(statement) {}
  sqlite::Cell cell(int column) const { return statement_.cell(column); }
  std::int64_t integer(int column) const { return statement_.integer(column); }
  std::string_view text(int column) const { return statement_.text(column); }
  std::optional<std::int64_t> optional_integer(int column) const;
  std::optional<double> optional_real(int column) const;
  std::optional<std::string_view> optional_text(int column) const;

 private:
  const sqlite::Statement& statement_;
};

// Reads a *.profile.sqlite, or the FILE.partial of a writer that was killed: the file's content is
// not changed, except that SQLite rolls back what a killed writer left half written.
class ProfileReader {
 public:
  // Throws InputError, one line, if the file is missing, not a database, cut off, damaged, another
  // program's, of another version of the schema, or still being written.
  explicit ProfileReader(const std::filesystem::path& file,
                         Integrity integrity = Integrity::structure);

  const std::filesystem::path& file() const { return file_; }
  Source source() const { return source_; }
  bool complete() const { return complete_; }  // false: its writer was killed or ran out of space
  const std::vector<std::string>& shards() const { return shards_; }  // ids of the files merged
  // A value of `meta`. Throws InputError if it is missing or not JSON.
  Json meta(std::string_view key) const;

  // Columns of a table or view of the schema, in its order.
  std::vector<std::string> columns(std::string_view table) const;

  // Calls `use` for each row of a table or view. Nothing is kept between rows. Throws InputError if
  // the file is damaged there; what `use` throws passes through.
  void scan(std::string_view table, std::initializer_list<std::string_view> columns,
            const std::function<void(const ProfileRow&)>& use) const;
  void scan(std::string_view table, const std::vector<std::string>& columns,
            const std::function<void(const ProfileRow&)>& use) const;
  std::int64_t count(std::string_view table) const;

 private:
  void open(Integrity integrity);
  void check_schema() const;
  void read_meta();

  std::filesystem::path file_;
  mutable sqlite::Connection connection_;
  Source source_ = Source::measured;
  bool complete_ = false;
  std::vector<std::string> shards_;
};

}  // namespace warpmeter
