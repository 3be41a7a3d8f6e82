// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// docs/profile_schema.md against the schema of a file that was just made: every table, view and
// column, in order, and whether it may be null.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "profiler/profile_reader.h"
#include "profiler/schema.h"
#include "tests/profiler/planted.h"

namespace warpmeter {
namespace {

struct Documented {
  std::string name;
  bool nullable;
  bool operator==(const Documented&) const = default;
};

void PrintTo(const Documented& column, std::ostream* out) {
  *out << column.name << (column.nullable ? " (or null)" : "");
}

using Documents = std::map<std::string, std::vector<Documented>>;

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> parts;
  std::size_t at = 1;
  while (at < line.size()) {
    const std::size_t end = line.find('|', at);
    if (end == std::string::npos) break;
    std::string part = line.substr(at, end - at);
    part.erase(0, part.find_first_not_of(" `"));
    part.erase(part.find_last_not_of(" `") + 1);
    parts.push_back(part);
    at = end + 1;
  }
  return parts;
}

// Below "### name": rows of | column | unit | meaning | null |; "never" in the last one.
Documents read_document() {
  std::ifstream in(WARPMETER_SOURCE "/docs/profile_schema.md");
  Documents documents;
  std::string line, name;
  while (std::getline(in, line)) {
    if (line.starts_with("### ")) name = line.substr(4);
    if (!line.starts_with("| `") || name.empty()) continue;
    const auto parts = cells(line);
    EXPECT_EQ(parts.size(), 4u) << line;
    for (const std::string& part : parts) EXPECT_FALSE(part.empty()) << line;
    documents[name].push_back({parts.front(), parts.back() != "never"});
  }
  return documents;
}

TEST(ProfileSchema, IsWhatItsDocumentSays) {
  const ScratchFolder folder;
  write_planted_store(folder / "x");
  sqlite::Connection file(folder / "x", sqlite::Mode::read_only);
  Documents tables, views;
  sqlite::Statement list = file.prepare(
      "SELECT m.name, m.type, c.name, c.\"notnull\" OR c.pk FROM sqlite_schema m, "
      "pragma_table_info(m.name) c WHERE m.type IN ('table', 'view') ORDER BY m.name, c.cid");
  while (list.step())
    (list.text(1) == "view" ? views : tables)[std::string(list.text(0))].push_back(
        {std::string(list.text(2)), list.integer(3) == 0});
  Documents documented = read_document();
  for (const auto& [name, columns] : tables) {
    EXPECT_EQ(documented[name], columns) << name;
    documented.erase(name);
  }
  for (const auto& [name, columns] : views) {  // SQLite does not know whether theirs may be null
    std::vector<std::string> said, made;
    for (const auto& column : documented[name]) said.push_back(column.name);
    for (const auto& column : columns) made.push_back(column.name);
    EXPECT_EQ(said, made) << name;
    documented.erase(name);
  }
  for (const auto& [name, columns] : documented) ADD_FAILURE() << name << " is not in the file";
}

}  // namespace
}  // namespace warpmeter
