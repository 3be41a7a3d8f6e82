// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/profile_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "core/error.h"
#include "profiler/schema.h"

namespace warpmeter {
namespace {

constexpr std::string_view magic("SQLite format 3\0", 16);

[[noreturn]] void refuse(const std::filesystem::path& file, std::string_view why) {
  std::string line = fmt::format("cannot read {}: {}", file.string(), why);
  std::replace(line.begin(), line.end(), '\n', ' ');
  throw InputError(line);
}

// A journal that is not empty belongs to a writer that was killed, or still writes.
bool has_journal(const std::filesystem::path& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file.string() + "-journal", error);
  return !error && size > 0;
}

std::uint64_t big_endian(const char* bytes, int count) {
  std::uint64_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Before SQLite sees the file, so that each case gets a clear line.
void check_header(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) refuse(file, "it is a folder; name the file");
  std::ifstream in(file, std::ios::binary);
  if (!in) refuse(file, std::strerror(errno));
  std::array<char, 100> header{};
  in.read(header.data(), header.size());
  const auto length = static_cast<std::size_t>(in.gcount());
  if (length == 0) refuse(file, "the file is empty: nothing was flushed into it");
  if (length < header.size() || std::string_view(header.data(), magic.size()) != magic)
    refuse(file, "not an SQLite file; a *.profile.sqlite is needed");
  // SQLite's file format, section 1.3: page size at byte 16 (1 stands for 65536), pages at byte 28.
  const std::uint64_t page = big_endian(header.data() + 16, 2);
  const std::uint64_t bytes = (page == 1 ? 65536 : page) * big_endian(header.data() + 28, 4);
  const std::uintmax_t size = std::filesystem::file_size(file, error);
  if (!has_journal(file) && !error && size < bytes)
    refuse(file, fmt::format("it is cut off at byte {} of {}", size, bytes));
}

bool known(std::string_view table) {
  const auto same = [table](const auto& entry) { return entry.name == table; };
  return std::ranges::any_of(profile_tables(), same) || std::ranges::any_of(profile_views(), same);
}

}  // namespace

std::optional<std::int64_t> ProfileRow::optional_integer(int column) const {
  if (std::holds_alternative<std::nullptr_t>(statement_.cell(column))) return std::nullopt;
  return statement_.integer(column);
}

std::optional<double> ProfileRow::optional_real(int column) const {
  const sqlite::Cell value = statement_.cell(column);
  if (std::holds_alternative<std::nullptr_t>(value)) return std::nullopt;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  return static_cast<double>(statement_.integer(column));
}

std::optional<std::string_view> ProfileRow::optional_text(int column) const {
  if (std::holds_alternative<std::nullptr_t>(statement_.cell(column))) return std::nullopt;
  return statement_.text(column);
}

ProfileReader::ProfileReader(const std::filesystem::path& file, Integrity integrity) : file_(file) {
  check_header(file);
  try {
    open(integrity);
  } catch (const sqlite::Error& error) {
    refuse(file_,
           error.busy() ? "it is still being written; wait for its writer to end" : error.what());
  }
}

void ProfileReader::open(Integrity integrity) {
  const bool repair = has_journal(file_);
  connection_ =
      sqlite::Connection(file_, repair ? sqlite::Mode::read_write : sqlite::Mode::read_only);
  connection_.integer("PRAGMA page_count");  // reads, and so rolls back if need be
  connection_.execute("PRAGMA query_only = ON");
  if (connection_.integer("PRAGMA application_id") != profile_application_id)
    refuse(file_, "an SQLite file of another program; a *.profile.sqlite is needed");
  const std::int64_t version = connection_.integer("PRAGMA user_version");
  if (version != profile_user_version)
    refuse(file_, fmt::format("version {} of the schema, this program reads version {}", version,
                              profile_user_version));
  check_schema();
  if (integrity == Integrity::all_pages) {
    sqlite::Statement check = connection_.prepare("PRAGMA quick_check(1)");
    if (!check.step()) refuse(file_, "it is damaged");
    const std::string result(check.text(0));
    if (result != "ok") refuse(file_, "it is damaged: " + result);
  }
  read_meta();
}

// Exactly our tables and views; others beside them do not matter. So no view of a stranger's making
// is ever run.
void ProfileReader::check_schema() const {
  sqlite::Statement find =
      connection_.prepare("SELECT sql FROM sqlite_schema WHERE type = ? AND name = ?");
  const auto check = [&](std::string_view type, std::string_view name, const std::string& sql) {
    find.bind(type, name);
    const bool there = find.step();
    const bool same = there && find.text(0) == sql;
    find.reset();
    if (!there) refuse(file_, fmt::format("the {} {} is missing", type, name));
    if (!same)
      refuse(file_, fmt::format("the {} {} is not that of {}", type, name, profile_schema));
  };
  for (const Table& table : profile_tables()) check("table", table.name, create_sql(table));
  for (const View& view : profile_views()) check("view", view.name, create_sql(view));
}

void ProfileReader::read_meta() {
  const std::string where = file_.string();
  if (meta("schema") != std::string(profile_schema))
    refuse(file_, fmt::format("\"schema\" is not {}", profile_schema));
  const Json source = meta("source");
  if (!source.is_string()) refuse(file_, "\"source\" must be a string");
  source_ = parse_source(source.get<std::string>());
  const Json complete = meta("complete");
  if (!complete.is_boolean()) refuse(file_, "\"complete\" must be true or false");
  complete_ = complete.get<bool>();
  const Json shards = meta("shards");
  if (!shards.is_array() || shards.empty()) refuse(file_, "\"shards\" must be a list");
  for (const Json& shard : shards) {
    if (!shard.is_string()) refuse(file_, "\"shards\" must hold strings");
    shards_.push_back(shard.get<std::string>());
  }
}

Json ProfileReader::meta(std::string_view key) const {
  try {
    sqlite::Statement find = connection_.prepare("SELECT value FROM meta WHERE key = ?");
    find.bind(key);
    if (!find.step()) refuse(file_, fmt::format("meta has no \"{}\"", key));
    Json value = Json::parse(find.text(0), nullptr, false);
    if (value.is_discarded()) refuse(file_, fmt::format("\"{}\" in meta is not JSON", key));
    return value;
  } catch (const sqlite::Error& error) {
    refuse(file_, error.what());
  }
}

std::vector<std::string> ProfileReader::columns(std::string_view table) const {
  if (!known(table)) throw std::logic_error(fmt::format("no table {}", table));
  try {
    const sqlite::Statement select = connection_.prepare(fmt::format("SELECT * FROM {}", table));
    std::vector<std::string> names;
    for (int i = 0; i < select.columns(); ++i) names.emplace_back(select.column_name(i));
    return names;
  } catch (const sqlite::Error& error) {
    refuse(file_, error.what());
  }
}

void ProfileReader::scan(std::string_view table, std::initializer_list<std::string_view> columns,
                         const std::function<void(const ProfileRow&)>& use) const {
  scan(table, std::vector<std::string>(columns.begin(), columns.end()), use);
}

void ProfileReader::scan(std::string_view table, const std::vector<std::string>& columns,
                         const std::function<void(const ProfileRow&)>& use) const {
  if (!known(table)) throw std::logic_error(fmt::format("no table {}", table));
  try {
    sqlite::Statement select =
        connection_.prepare(fmt::format("SELECT {} FROM {}", fmt::join(columns, ", "), table));
    while (select.step()) use(ProfileRow(select));
  } catch (const sqlite::Error& error) {
    refuse(file_, fmt::format("{} (in {})", error.what(), table));
  }
}

std::int64_t ProfileReader::count(std::string_view table) const {
  std::int64_t rows = 0;
  scan(table, {"count(*)"}, [&rows](const ProfileRow& row) { rows = row.integer(0); });
  return rows;
}

}  // namespace warpmeter
