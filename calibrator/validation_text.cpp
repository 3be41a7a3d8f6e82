// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "calibrator/validation.h"
#include "core/table.h"
#include "core/unit.h"

namespace warpmeter {
namespace {

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(); }

Json json_of(const std::optional<Interval>& interval) {
  return interval ? Json::array({interval->lo, interval->hi}) : Json();
}

Json json_of(const ValidationRow& row) {
  return Json{{"id", row.id},
              {"family", row.family},
              {"split", row.split},
              {"measured", json_of(row.measured)},
              {"model", json_of(row.model)},
              {"interval", json_of(row.interval)},
              {"bound", row.bound},
              {"nameplate", json_of(row.nameplate)},
              {"mean", json_of(row.mean)},
              {"excluded", row.excluded}};
}

Json json_of(const Score& score) {
  return Json{{"predictor", score.predictor},
              {"split", score.split},
              {"group", score.group},
              {"name", score.name},
              {"rows", score.rows},
              {"n", score.n},
              {"coverage", json_of(score.coverage())},
              {"mape", json_of(score.mape)},
              {"mape_interval", json_of(score.mape_interval)},
              {"median", json_of(score.median)},
              {"p90", json_of(score.p90)},
              {"bias", json_of(score.bias)},
              {"within", json_of(score.within)}};
}

std::string percent(const std::optional<double>& value) {
  return value ? fmt::format("{:.1f} %", 100 * *value) : "-";
}

std::string signed_percent(const std::optional<double>& value) {
  return value ? fmt::format("{:+.1f} %", 100 * *value) : "-";
}

std::vector<std::string> cells_of(const Score& score) {
  const std::string group =
      score.name.empty() ? score.group : fmt::format("{} {}", score.group, score.name);
  const std::string range = score.mape_interval
                                ? fmt::format("{:.1f} .. {:.1f} %", 100 * score.mape_interval->lo,
                                              100 * score.mape_interval->hi)
                                : "-";
  return {score.split,
          group,
          score.predictor,
          std::to_string(score.n),
          percent(score.coverage()),
          percent(score.mape),
          range,
          percent(score.median),
          percent(score.p90),
          signed_percent(score.bias),
          percent(score.within)};
}

}  // namespace

Json to_json(const Validation& validation) {
  Json rows = Json::array(), scores = Json::array();
  for (const ValidationRow& row : validation.rows) rows.push_back(json_of(row));
  for (const Score& score : validation.scores) scores.push_back(json_of(score));
  return Json{
      {"scores", std::move(scores)}, {"rows", std::move(rows)}, {"notes", validation.notes}};
}

std::string format_table(const Validation& validation) {
  std::vector<std::vector<std::string>> rows;
  for (const Score& score : validation.scores) rows.push_back(cells_of(score));
  std::string text = format_table({"split", "group", "predictor", "n", "coverage", "MAPE",
                                   "90 % interval", "median", "p90", "bias", "within"},
                                  rows);
  for (const std::string& note : validation.notes) text += note + "\n";
  for (const ValidationRow& row : validation.rows) {
    if (!row.excluded.empty()) text += fmt::format("excluded {}: {}\n", row.id, row.excluded);
  }
  return text;
}

}  // namespace warpmeter
