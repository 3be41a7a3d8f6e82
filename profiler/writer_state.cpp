// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "profiler/writer_state.h"

#include <fmt/format.h>

#include <random>

namespace warpmeter {
namespace {

constexpr std::size_t max_cached_strings = 1 << 16;
constexpr std::size_t max_cached_text = 16 << 20;  // bytes
constexpr std::size_t max_cached_shapes = 1 << 16;

// Rollback journal, not WAL: this load only appends, so that the journal holds next to nothing and
// each page is written once, and a killed writer leaves one file that SQLite repairs by itself.
// synchronous=OFF: what was flushed survives the death of the process, because the kernel holds it;
// it need not survive the machine's before finish() has synced the file. Nobody else may open it
// meanwhile: a reader's lock would stop the writer.
constexpr const char* settings =
    "PRAGMA page_size = 4096; PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE;"
    "PRAGMA synchronous = OFF; PRAGMA cache_size = -8192; PRAGMA temp_store = FILE;";

// Freed when the disk is full, so that losses can still be written without growing the file.
constexpr const char* make_reserve =
    "CREATE TABLE reserve(data BLOB); INSERT INTO reserve VALUES(zeroblob(262144));";

std::string random_id() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", random(), random(), random(), random());
}

}  // namespace

void ProfileWriter::State::create(const ProfileHeader& header) {
  connection.execute(settings);
  connection.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}; BEGIN;",
                                 profile_application_id, profile_user_version));
  for (const Table& table : profile_tables()) connection.execute(create_sql(table));
  for (const View& view : profile_views()) connection.execute(create_sql(view));
  connection.execute("CREATE INDEX shapes_by_launch ON shapes(name_id, grid_x, grid_y, grid_z);");
  connection.execute(make_reserve);
  put_meta("schema", std::string(profile_schema));
  put_meta("source", std::string(to_string(header.source)));
  put_meta("tool", header.tool);
  put_meta("host", header.host);
  put_meta("provenance", header.provenance);
  put_meta("shards", Json::array({random_id()}));
  put_meta("complete", false);
  connection.execute("COMMIT; BEGIN;");
}

void ProfileWriter::State::prepare() {
  for (int table = strings_table; table < table_count; ++table)
    inserts[table] = connection.prepare_persistent(insert_sql(profile_tables()[table]));
  find_string = connection.prepare_persistent("SELECT id FROM strings WHERE text = ?");
  end_range = connection.prepare_persistent("UPDATE ranges SET end_ns = ? WHERE id = ?");
  std::string where;
  for (const Column& column : profile_table("shapes").columns)
    if (column.role != Role::own_id)
      where += fmt::format("{}{} IS ?", where.empty() ? "" : " AND ", column.name);
  find_shape = connection.prepare_persistent("SELECT id FROM shapes WHERE " + where);
}

void ProfileWriter::State::put_meta(std::string_view key, const Json& value) {
  const std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  connection.prepare("INSERT OR REPLACE INTO meta VALUES(?, ?)")
      .bind(key, std::string_view(text))
      .run();
}

void ProfileWriter::State::lose_ends() {
  if (unflushed_ends != 0) lost["ends of ranges"] += std::exchange(unflushed_ends, 0);
}

// All rows since the last flush are gone, and all that will come: they are counted.
void ProfileWriter::State::break_off(const sqlite::Error& error) {
  failure = error.what();
  for (int table = 0; table < table_count; ++table) {
    // Strings and shapes are no data of their own: rows that need them are counted.
    if (unflushed[table] != 0 && table != strings_table && table != shapes_table)
      lost[std::string(profile_tables()[table].name)] += unflushed[table];
    unflushed[table] = 0;
  }
  lose_ends();
  try {
    if (connection.in_transaction()) connection.execute("ROLLBACK");
  } catch (const sqlite::Error&) {
    // The journal stays: whoever opens the file next rolls back.
  }
}

std::int64_t ProfileWriter::State::lookup(sqlite::Statement& statement) {
  try {
    const std::int64_t id = statement.step() ? statement.integer(0) : 0;
    statement.reset();
    return id;
  } catch (const sqlite::Error& error) {
    statement.reset();
    break_off(error);
    return 0;
  }
}

// With the journal in memory and the reserve freed, this needs no room on the disk.
void ProfileWriter::State::write_losses() {
  connection.execute("PRAGMA journal_mode = MEMORY; BEGIN; DELETE FROM reserve;");
  sqlite::Statement insert =
      connection.prepare("INSERT INTO losses VALUES(NULL, NULL, 'store', ?, ?, NULL, NULL, ?)");
  for (const auto& [table, count] : lost)
    insert.bind(std::string_view(table), count, std::string_view(failure)).run();
}

std::int64_t ProfileWriter::State::remember(std::string_view text, std::int64_t id) {
  if (strings.size() >= max_cached_strings || cached_text + text.size() > max_cached_text) {
    strings.clear();
    cached_text = 0;
  }
  if (text.size() <= max_cached_text / 16) {
    strings.emplace(text, id);
    cached_text += text.size();
  }
  return id;
}

std::int64_t ProfileWriter::State::remember(const Shape& shape, std::int64_t id) {
  if (shapes.size() >= max_cached_shapes) shapes.clear();
  shapes.emplace(shape, id);
  return id;
}

void ProfileWriter::State::close() {
  for (sqlite::Statement& insert : inserts) insert = sqlite::Statement();
  find_string = sqlite::Statement();
  find_shape = sqlite::Statement();
  end_range = sqlite::Statement();
  connection.close();
}

}  // namespace warpmeter
