// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The planner against tables that were made independently of it (a Python program over the same
// library): shared/cupti/catalog.json, metrics_matrix.tsv and group_passes.txt.
#include <fmt/format.h>

#include <fstream>
#include <map>
#include <sstream>

#include "collectors/breakdown.h"
#include "plan_support.h"

namespace warpmeter {
namespace {

class Field : public WithCupti {};

const std::string folder = WARPMETER_SHARED_DATA "/cupti/";

// The table's name of tensor_memory.allocated has no .per_cycle_active: its value would be bytes
// times cycles, as CUPTI's own unit says.
bool same_counter(const std::string& theirs, const std::string& ours) {
  return ours == theirs ||
         (theirs == "sm__mem_tensor_bytes_allocated.avg" && ours == theirs + ".per_cycle_active");
}

// Ours whose first names are `candidates`; null if there is none.
const LogicalMetric* with_names(const std::vector<std::string>& candidates) {
  for (const LogicalMetric& metric : Catalogue::built_in().metrics()) {
    if (metric.names.size() >= candidates.size() &&
        std::equal(candidates.begin(), candidates.end(), metric.names.begin(), same_counter))
      return &metric;
  }
  return nullptr;
}

std::vector<std::string> chips_of(const Json& entry) {
  std::vector<std::string> out;
  for (const auto& [chip, cell] : entry["chips"].items()) out.push_back(chip);
  return out;
}

TEST_F(Field, ChoosesTheSameNamesAndPasses) {
  needs_known_version();
  if (IsSkipped()) return;
  const Json document = read_json(folder + "catalog.json");
  int compared = 0;
  for (const std::string& name : chips_of(document["catalog"].front())) {
    for (const Profiler profiler : both_profilers) {
      const ChipHost chip = cupti_->chip(name, profiler);
      for (const auto& [id, entry] : document["catalog"].items()) {
        const auto candidates = entry["candidates"].get<std::vector<std::string>>();
        const Json& expected = entry["chips"][name][std::string(to_string(profiler))];
        const LogicalMetric* metric = with_names(candidates);
        if (metric == nullptr) {  // a name that no chip has
          EXPECT_TRUE(expected.is_null()) << id;
          continue;
        }
        const Resolution r = resolve(chip, Catalogue::built_in(), *metric);
        ++compared;
        if (expected.is_null()) {  // ours may have more names than theirs
          for (const std::string& candidate : candidates) EXPECT_NE(r.name, candidate) << name;
          continue;
        }
        const std::string& chosen = candidates[expected[0].get<std::size_t>() - 1];
        EXPECT_TRUE(same_counter(chosen, r.name)) << name << " " << id << " " << r.name;
        EXPECT_EQ(r.passes, expected[1].get<std::size_t>()) << name << " " << id;
      }
    }
  }
  EXPECT_GT(compared, 2000);
}

struct Row {
  std::string type;
  std::map<std::string, std::string> cells;  // by chip: "range/PM"
};

std::map<std::string, Row> read_matrix() {
  std::ifstream in(folder + "metrics_matrix.tsv");
  std::string line, field;
  std::vector<std::string> header;
  std::map<std::string, Row> rows;
  while (std::getline(in, line)) {
    std::vector<std::string> fields;
    std::istringstream cells(line);
    while (std::getline(cells, field, '\t')) fields.push_back(field);
    if (header.empty()) {
      header = fields;
      continue;
    }
    Row& row = rows[fields.at(0)];
    row.type = fields.at(1);
    for (std::size_t i = 3; i < fields.size(); ++i) row.cells[header.at(i)] = fields[i];
  }
  return rows;
}

// The table's answer for one profiler: "-", "E", "N" or a number of passes.
std::string cell_of(const Row& row, const std::string& chip, Profiler profiler) {
  const std::string& cell = row.cells.at(chip);
  const auto slash = cell.find('/');
  if (slash == std::string::npos) return cell;
  return profiler == Profiler::range ? cell.substr(0, slash) : cell.substr(slash + 1);
}

std::string ours(const ChipHost& chip, const std::string& name) {
  if (!chip.lists(name)) return "-";
  const CounterConfig alone = chip.configure({name});
  if (alone.error != 0) return alone.error == 999 ? "E" : alone.error == 27 ? "N" : "?";
  return std::to_string(alone.passes);
}

// Every 16th of the 7,761 metrics, and all that cannot be scheduled, with the roll-up that the
// table was made with.
TEST_F(Field, AgreesWithTheMatrixOfAllMetrics) {
  needs_known_version();
  if (IsSkipped()) return;
  const std::map<std::string, std::string> roll_ups = {
      {"counter", ".sum"},
      {"ratio", ".ratio"},
      {"throughput", ".avg.pct_of_peak_sustained_elapsed"}};
  const auto rows = read_matrix();
  ASSERT_GT(rows.size(), 7000U);
  std::map<std::string, int> seen;
  const std::vector<std::string> chips = {"GV100", "TU102", "GA100", "GA102", "GA10B", "AD102",
                                          "GH100", "GB100", "GB110", "GB202", "GB20B", "GB10B"};
  for (const std::string& name : chips) {
    for (const Profiler profiler : both_profilers) {
      if (name == "GV100" && profiler == Profiler::pm) continue;
      const ChipHost chip = cupti_->chip(name, profiler);
      int index = 0;
      for (const auto& [metric, row] : rows) {
        const std::string expected = cell_of(row, name, profiler);
        if (++index % 16 != 0 && expected != "E" && expected != "N") continue;
        const std::string got = ours(chip, metric + roll_ups.at(row.type));
        EXPECT_EQ(got, expected) << name << " " << to_string(profiler) << " " << metric;
        ++seen[expected];
      }
    }
  }
  EXPECT_GT(seen["1"], 1000);
  EXPECT_GT(seen["2"], 20);
  EXPECT_GT(seen["E"], 100);
  EXPECT_EQ(seen["N"], 3);
}

TEST_F(Field, NeedsTheSamePassesPerGroup) {
  needs_known_version();
  if (IsSkipped()) return;
  const Json document = read_json(folder + "catalog.json");
  std::ifstream in(folder + "group_passes.txt");
  std::string line, word;
  std::vector<std::string> chips;
  int compared = 0;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string group;
    if (line.empty() || line[0] == '#' || !(words >> group)) continue;
    if (group == "group") {
      while (words >> word) chips.push_back(word);
      continue;
    }
    if (group == "ALL" || group == "no-sass" || group == "-thruput") continue;  // not per group
    for (const std::string& name : chips) {
      ASSERT_TRUE(words >> word);
      const ChipHost chip = cupti_->chip(name, Profiler::range);
      std::vector<PlannedCounter> counters;
      for (const auto& [id, entry] : document["catalog"].items()) {
        if (id.rfind(group + ".", 0) != 0) continue;
        const LogicalMetric* metric = with_names(entry["candidates"]);
        if (metric == nullptr) continue;
        const Resolution r = resolve(chip, Catalogue::built_in(), *metric);
        if (!r.name.empty()) counters.push_back({r.name, metric->scope, r.passes});
      }
      EXPECT_EQ(
          fmt::format("{}m/{}p", counters.size(), total_passes(pack_for_replay(chip, counters))),
          word)
          << group << " " << name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 150);
}

// The table's form: {"counters": [...], "sub": {NAME: {...}}}, either left out if empty.
Json table_form(const Breakdown& breakdown) {
  Json out = Json::object();
  if (!breakdown.counters.empty()) out["counters"] = breakdown.counters;
  for (const Breakdown& part : breakdown.parts) out["sub"][part.name] = table_form(part);
  return out;
}

TEST_F(Field, BreakdownsAreThoseOfTheTable) {
  needs_known_version();
  if (IsSkipped()) return;
  int compared = 0;
  const Json document = read_json(folder + "throughput_breakdowns.json");
  for (const auto& [chip, trees] : document["chips"].items()) {
    for (const auto& [metric, expected] : trees.items()) {
      EXPECT_EQ(table_form(read_breakdown(*cupti_, chip, metric)), expected) << chip << metric;
      ++compared;
    }
  }
  EXPECT_GT(compared, 50);
}

}  // namespace
}  // namespace warpmeter
