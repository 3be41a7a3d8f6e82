// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrator/latency_parameters.h"
#include "calibrator/levels.h"
#include "calibrator/staircase_names.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

Points slice(const Points& points, std::size_t first, std::size_t last) {
  return {points.begin() + static_cast<std::ptrdiff_t>(first),
          points.begin() + static_cast<std::ptrdiff_t>(last) + 1};
}

// The level's value as each campaign sees it, by the estimator that gave the pooled value.
std::vector<double> level_replicates(const Points& points) {
  const std::vector<double> x = numbers(points, "footprint");
  return replicate(points,
                   [&](const std::vector<double>& y) { return std::optional(level_median(x, y)); });
}

// Modes within the samples of a point that was found multimodal.
std::vector<double> sample_modes(const Points& points) {
  for (const Measurement* point : points) {
    if (point->verdict != Verdict::multimodal) continue;
    std::vector<double> all;
    for (const auto& campaign : point->samples)
      all.insert(all.end(), campaign.begin(), campaign.end());
    if (const auto modality = test_modality(all)) return modality->modes;
  }
  return {};
}

void add_distribution(Parameter& parameter, const Staircase& staircase,
                      const std::vector<std::size_t>& indices, const Points& points) {
  std::vector<double> modes;
  for (const std::size_t index : indices) {
    for (const Mode& mode : staircase.levels[index].modes) modes.push_back(mode.value);
  }
  if (modes.size() < 2) modes = sample_modes(points);
  if (modes.size() < 2) return;
  std::sort(modes.begin(), modes.end());
  parameter.distribution = Json::object();
  parameter.distribution["modes"] = modes;
}

Json range_of(double lo, double hi) {
  Json range = Json::object();
  range["footprint"] = {lo, hi};
  return range;
}

Parameter knee_parameter(const Draft& draft, const Interval& knee, const Points& points,
                         std::string reason) {
  Parameter parameter;
  parameter.unit = Unit::byte;
  parameter.value = std::sqrt(knee.lo * knee.hi);
  parameter.interval = knee;
  parameter.status = draft.status;
  parameter.method =
      "latency staircase: between the last footprint at this level's latency and the first at the "
      "next level's (a bracket, at least 90 %); the value is the geometric mean";
  parameter.reason = std::move(reason);
  parameter.evidence = ids(points);
  return parameter;
}

// A level without plateau, from the footprints inside its nominal size.
void fall_back(const Draft& draft, const Points& points, DeviceKind kind, const std::string& level,
               LevelEstimates& estimates) {
  Parameter& parameter = estimates.latency[level];
  parameter = unknown(points.front()->unit, Status::not_identifiable,
                      "the latency curve has no plateau that could be this level");
  const auto nominal = nominal_range(draft.machine.facts, kind, level);
  if (!nominal) return;
  Points inside;
  for (const Measurement* point : points) {
    const double footprint = *number(point->parameters, "footprint");
    if (level == "dram" ? footprint >= 2 * nominal->lo
                        : footprint >= 1.5 * nominal->lo && footprint <= 0.75 * nominal->hi) {
      inside.push_back(point);
    }
  }
  if (inside.empty()) {
    parameter.reason += ", and no footprint lies well inside its nominal size";
    return;
  }
  const std::vector<double> y = values(inside);
  const auto [lo, hi] = std::minmax_element(y.begin(), y.end());
  const std::string seen =
      fmt::format("no plateau; between {:g} and {:g} B the latency goes from {:.3g} to {:.3g} s",
                  *number(inside.front()->parameters, "footprint"),
                  *number(inside.back()->parameters, "footprint"), y.front(), y.back());
  if (*hi > 2 * *lo) {
    parameter.reason = seen;
    return;
  }
  const auto replicates = level_replicates(inside);
  parameter = from_replicates(
      draft, points.front()->unit, replicates,
      "median over the footprints inside the level's nominal size; interval covers all of them",
      inside, seen);
  if (parameter.interval) {
    parameter.interval =
        Interval{std::min(parameter.interval->lo, *lo), std::max(parameter.interval->hi, *hi)};
  } else if (inside.size() > 1) {
    parameter.interval = Interval{*lo, *hi};
  }
  estimates.replicates[level] = replicates;
}

}  // namespace

std::string latency_name(const std::string& level) {
  return level == "dram" ? "latency.dram" : "latency." + level + ".hit";
}

LevelEstimates estimate_levels(const Draft& draft, const Points& points, DeviceKind kind,
                               const std::string& first) {
  LevelEstimates estimates;
  const Staircase staircase = detect_levels(numbers(points, "footprint"), values(points));
  const NamedLevels named = name_levels(staircase, draft.machine.facts, kind, first);
  for (const std::string& level : memory_levels(kind)) {
    const auto found = named.by_name.find(level);
    if (found == named.by_name.end()) {
      fall_back(draft, points, kind, level, estimates);
      estimates.capacity[level] = unknown(Unit::byte, Status::not_identifiable,
                                          "the latency curve has no plateau of this level");
      continue;
    }
    const std::size_t index = found->second.front();
    const Level& plateau = staircase.levels[index];
    const Points on_plateau = slice(points, plateau.first, plateau.last);
    const auto note = named.notes.find(level);
    const std::string reason = note == named.notes.end() ? "" : note->second;
    const auto replicates = level_replicates(slice(points, plateau.flat_first, plateau.flat_last));
    Parameter& parameter = estimates.latency[level];
    parameter = from_replicates(draft, points.front()->unit, replicates,
                                "plateau of the latency staircase: median over its footprints, "
                                "interval from campaigns",
                                on_plateau, reason);
    parameter.valid_range = range_of(plateau.x_first, plateau.x_last);
    add_distribution(parameter, staircase, found->second, on_plateau);
    estimates.replicates[level] = replicates;
    // A level ends where its outermost mode does; the end of the innermost one is the size of the
    // part that is near.
    const auto [inner, outer] = std::minmax_element(found->second.begin(), found->second.end());
    if (*outer < staircase.knees.size()) {
      estimates.capacity[level] = knee_parameter(draft, staircase.knees[*outer], points, reason);
    } else {
      estimates.capacity[level] = unknown(Unit::byte, Status::not_identifiable,
                                          "the latency curve ends on this level's plateau");
    }
    if (*inner != *outer && level == "l2" && kind == DeviceKind::cuda) {
      estimates.capacity["l2.segment"] =
          knee_parameter(draft, staircase.knees[*inner], points, reason);
    }
  }
  return estimates;
}

}  // namespace warpmeter
