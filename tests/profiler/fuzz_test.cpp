// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The reader of profiles against damaged and foreign files: each is read, or refused with an
// InputError of one line, and nothing else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "core/error.h"
#include "profiler/profile_reader.h"
#include "profiler/schema.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

std::string content(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << text;
}

// Every value of every table and view.
void read_all(const std::filesystem::path& file, Integrity integrity) {
  const ProfileReader reader(file, integrity);
  std::size_t bytes = 0;
  const auto scan = [&](std::string_view name) {
    const std::vector<std::string> columns = reader.columns(name);
    reader.scan(name, columns, [&](const ProfileRow& row) {
      for (int i = 0; i < std::ssize(columns); ++i) {
        const sqlite::Cell cell = row.cell(i);
        if (const auto* text = std::get_if<std::string_view>(&cell))
          for (const char c : *text) bytes += static_cast<unsigned char>(c);
      }
    });
  };
  for (const Table& table : profile_tables()) scan(table.name);
  for (const View& view : profile_views()) scan(view.name);
  EXPECT_LT(bytes, std::size_t{1} << 40);
}

bool refused(const std::filesystem::path& file, Integrity integrity) {
  try {
    read_all(file, integrity);
    return false;
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return true;
  }
}

TEST(FuzzProfileReader, SurvivesDamagedBytes) {
  const ScratchFolder folder;
  write_planted_store(folder / "seed");
  const std::string seed = content(folder / "seed");
  std::mt19937 random(11);
  int refusals = 0;
  const int rounds = 800;
  for (int i = 0; i < rounds; ++i) {
    std::string damaged = seed;
    for (auto edits = 1 + random() % 8; edits > 0; --edits) {
      // Half of the edits hit the head of a page, where its cells are described.
      const std::size_t page = random() % (seed.size() / 4096);
      const std::size_t within = random() % 2 == 0 ? random() % 64 : random() % 4096;
      damaged[page * 4096 + within] = static_cast<char>(random());
    }
    write(folder / "damaged", damaged);
    refusals +=
        refused(folder / "damaged", i % 2 == 0 ? Integrity::structure : Integrity::all_pages);
  }
  EXPECT_GT(refusals, rounds / 10);
  EXPECT_LT(refusals, rounds);
}

// Valid SQLite with values that our writer never makes: types, lengths and references.
TEST(FuzzProfileReader, SurvivesValuesOfOtherTypes) {
  const ScratchFolder folder;
  write_planted_store(folder / "seed");
  std::mt19937 random(12);
  const std::vector<std::string> values{
      "NULL", "'text'", "x'00ff'", "-1", "9223372036854775807", "1e300", "zeroblob(100000)"};
  for (int i = 0; i < 120; ++i) {
    std::filesystem::copy_file(folder / "seed", folder / "odd",
                               std::filesystem::copy_options::overwrite_existing);
    {
      sqlite::Connection connection(folder / "odd", sqlite::Mode::read_write);
      const Table& table = profile_tables()[random() % profile_tables().size()];
      const Column& column = table.columns[random() % table.columns.size()];
      try {
        connection.execute(fmt::format("UPDATE {} SET {} = {}", table.name, column.name,
                                       values[random() % values.size()]));
      } catch (const sqlite::Error&) {
      }
    }
    refused(folder / "odd", Integrity::all_pages);
  }
}

TEST(FuzzProfileReader, RefusesEveryTruncation) {
  const ScratchFolder folder;
  write_planted_store(folder / "seed");
  const std::string seed = content(folder / "seed");
  std::mt19937 random(13);
  for (int i = 0; i < 200; ++i) {
    write(folder / "cut", seed.substr(0, random() % seed.size()));
    EXPECT_TRUE(refused(folder / "cut", Integrity::structure));
  }
}

TEST(ProfileReader, SaysWhatIsWrongWithAFile) {
  const ScratchFolder folder;
  const auto refusal = [](const std::filesystem::path& file) {
    return refusal_of([&] { ProfileReader reader(file); });
  };
  EXPECT_NE(refusal(folder / "absent").find("No such file"), std::string::npos);
  EXPECT_NE(refusal(folder / "").find("folder"), std::string::npos);
  write(folder / "empty", "");
  EXPECT_NE(refusal(folder / "empty").find("empty"), std::string::npos);
  write(folder / "json", std::string(200, '{'));
  EXPECT_NE(refusal(folder / "json").find("not an SQLite file"), std::string::npos);
  sqlite::Connection(folder / "other", sqlite::Mode::create).execute("CREATE TABLE t(a)");
  EXPECT_NE(refusal(folder / "other").find("another program"), std::string::npos);
  write_planted_store(folder / "seed");
  write(folder / "cut", content(folder / "seed").substr(0, 50000));
  EXPECT_NE(refusal(folder / "cut").find("cut off at byte 50000 of"), std::string::npos);
  const auto changed = [&](const std::string& sql) {
    std::filesystem::copy_file(folder / "seed", folder / "changed",
                               std::filesystem::copy_options::overwrite_existing);
    sqlite::Connection(folder / "changed", sqlite::Mode::read_write).execute(sql);
    return refusal(folder / "changed");
  };
  EXPECT_NE(changed("PRAGMA user_version = 7").find("version 7"), std::string::npos);
  EXPECT_NE(changed("DROP VIEW v_api").find("v_api is missing"), std::string::npos);
  EXPECT_NE(changed("DROP VIEW v_api; CREATE VIEW v_api AS SELECT 1").find("v_api is not that"),
            std::string::npos);
  EXPECT_NE(changed("ALTER TABLE sets ADD COLUMN x INTEGER").find("sets is not that"),
            std::string::npos);
  EXPECT_NE(changed("DELETE FROM meta WHERE key = 'source'").find("no \"source\""),
            std::string::npos);
  EXPECT_NE(changed("UPDATE meta SET value = '\"guessed\"' WHERE key = 'source'").find("guessed"),
            std::string::npos);
}

}  // namespace
}  // namespace warpmeter
