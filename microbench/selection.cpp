// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"

namespace warpmeter {
namespace {

// Levenshtein distance: insertions, deletions and replacements of one character.
int edit_distance(const std::string& a, const std::string& b) {
  std::vector<int> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    int diagonal = row[0];
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const int replaced = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest(const std::string& id, std::span<const Benchmark> table) {
  std::set<std::pair<int, std::string>> ranked;
  for (const Benchmark& row : table) ranked.insert({edit_distance(id, row.id), row.id});
  std::vector<std::string> names;
  for (const auto& [distance, name] : ranked) {
    if (names.size() < 3) names.push_back(name);
  }
  return names;
}

bool selects(const std::string& id, const Benchmark& row) {
  return row.id == id || row.id.rfind(id + ".", 0) == 0;
}

}  // namespace

std::vector<Benchmark> select(std::span<const Benchmark> table, std::span<const std::string> ids) {
  if (ids.empty()) return {table.begin(), table.end()};
  for (const std::string& id : ids) {
    if (std::none_of(table.begin(), table.end(),
                     [&](const Benchmark& row) { return selects(id, row); })) {
      throw InputError(fmt::format("unknown benchmark \"{}\"; nearest: {}; see `warpmeter list`",
                                   id, fmt::join(nearest(id, table), ", ")));
    }
  }
  std::vector<Benchmark> chosen;
  for (const Benchmark& row : table) {
    if (std::any_of(ids.begin(), ids.end(),
                    [&](const std::string& id) { return selects(id, row); }))
      chosen.push_back(row);
  }
  return chosen;
}

}  // namespace warpmeter
