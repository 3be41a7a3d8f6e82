// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "calibrator/levels.h"
#include "tests/calibrator/field_curves.h"

namespace warpmeter::test {
namespace {

using Expected = nlohmann::json;

// The local grid step (ratio) of the curve at x.
double grid_step(const FieldCurve& curve, double x) {
  const auto next = std::upper_bound(curve.x.begin(), curve.x.end(), x);
  if (next == curve.x.begin()) return curve.x[1] / curve.x[0];
  if (next == curve.x.end()) return next[-1] / next[-2];
  return *next / next[-1];
}

// The expectations are windows' medians and 3 % (bandwidth: 5 %) edges read off by hand, called
// loose by their file, which states no tolerance for knees. A knee read off a grid is uncertain by
// one step, and a small difference of the level moves the edge by another half; 15 % is what
// carve-outs and creeping ends of L1 cost (reference_data.md 4.6).
bool knee_agrees(const FieldCurve& curve, double found, double expected) {
  const double tolerance = std::max(std::log(1.15), 1.5 * std::log(grid_step(curve, expected)));
  return std::abs(std::log(found / expected)) <= tolerance * (1 + 1e-9);
}

std::string describe(const Staircase& staircase) {
  std::string text;
  for (const Level& level : staircase.levels) {
    text += fmt::format(" {:.1f}[{:.0f}..{:.0f}]", level.value, level.x_first, level.x_last);
    for (const Mode& mode : level.modes) {
      if (level.modes.size() > 1) text += fmt::format("~{:.1f}", mode.value);
    }
  }
  return text;
}

// Everything that is wrong with the curve; empty if it agrees.
std::string judge(const Expected& expected) {
  const FieldCurve curve = read_plateau_curve(expected["file"]);
  if (curve.x.size() < 40) return " unreadable";
  const bool bandwidth = expected["y"] == "GB/s";
  LevelSettings settings;
  settings.trend = bandwidth ? Trend::falling : Trend::rising;
  settings.edge = bandwidth ? 0.05 : 0.03;
  const Staircase found = detect_levels(curve.x, curve.y, settings);

  std::string wrong;
  std::vector<std::string> names;
  for (const char* name : {"l1", "l2", "l2far", "dram"}) {
    if (expected["plateaus"].contains(name) && !expected["plateaus"][name].is_null()) {
      names.push_back(name);
    }
  }
  if (names.size() != found.levels.size()) {
    return fmt::format(" {} levels instead of {}:{}", found.levels.size(), names.size(),
                       describe(found));
  }
  const Expected& knees =
      expected.contains("knees_bytes") ? expected["knees_bytes"] : expected["knees_kB"];
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Level& level = found.levels[i];
    const double truth = expected["plateaus"][names[i]];
    if (std::abs(level.value / truth - 1) > 0.05) {
      wrong += fmt::format(" {} {:.1f} not {:.1f}", names[i], level.value, truth);
    }
    for (const auto& [key, value] : knees.items()) {
      if (value.is_null() || key.rfind(names[i] + "_", 0) != 0) continue;
      const double edge = key.find("_last_") != std::string::npos ? level.x_last : level.x_first;
      if (!knee_agrees(curve, edge, value)) {
        wrong += fmt::format(" {} {:.0f}", key, edge) + " not " + value.dump();
      }
    }
  }
  return wrong.empty() ? wrong : wrong + " of" + describe(found);
}

TEST(LevelsField, AgreeWithPublishedStaircases) {
  const Expected all = Expected::parse(read_shared("reference/raw/expected_plateaus.json"));
  ASSERT_EQ(all.size(), 28u);
  int agreed = 0;
  for (const Expected& expected : all) {
    const std::string wrong = judge(expected);
    fmt::print("{} {}{}\n", wrong.empty() ? "agrees" : "MISSES",
               expected["file"].get<std::string>(), wrong);
    agreed += wrong.empty() ? 1 : 0;
  }
  fmt::print("{} of {} curves agree\n", agreed, all.size());
  EXPECT_GE(agreed, 26);
}

}  // namespace
}  // namespace warpmeter::test
