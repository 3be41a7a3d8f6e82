// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "calibrator/parameters.h"
#include "calibrator/staircase_names.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

// Footprints at which a level alone serves: half of its size at most (above, sets of a
// set-associative cache overflow one by one), and from 1.5 times the next inner level on (below, a
// part still hits there). For DRAM twice the last cache, better four times, where less than a
// quarter can hit.
struct Window {
  double lo = 0, hi = 0;
};

std::optional<Window> window_of(const Machine& machine, DeviceKind kind, const std::string& level,
                                double threads) {
  constexpr double margin = 0.01;  // footprints are rounded to whole units
  if (const auto nominal = nominal_range(machine.facts, kind, level, threads)) {
    if (level == "dram") return Window{2 * nominal->lo * (1 - margin), nominal->hi};
    return Window{1.5 * nominal->lo, 0.55 * nominal->hi};
  }
  const auto knee = [&](const std::string& name) -> std::optional<Interval> {
    const auto found = machine.parameters.find("capacity." + name);
    return found == machine.parameters.end() ? std::nullopt : found->second.interval;
  };
  const auto l2_size = fact_number(machine.facts, "cache.l2.size");
  const auto l2_knee = knee("l2");
  if (level == "dram") {
    const double last = std::max(l2_size.value_or(0), l2_knee ? l2_knee->hi : 0);
    return last > 0 ? std::optional(Window{2 * last, std::numeric_limits<double>::infinity()})
                    : std::nullopt;
  }
  const auto own = knee(level);
  if (level == "l2" && own) return Window{knee("l1") ? 1.5 * knee("l1")->hi : 0, own->lo};
  if (level == "l2" && l2_size) return Window{0, 0.4 * *l2_size};  // half of it is the near part
  if (level == "l1" && own) {  // every SM has one, and reads its share of the footprint
    const double caches = fact_number(machine.facts, "sm.count").value_or(1);
    return Window{0, 0.55 * own->lo * caches};
  }
  return std::nullopt;
}

Points inside(const Points& points, const Window& window) {
  Points found;
  for (const Measurement* point : points) {
    const auto footprint = number(point->parameters, "footprint");
    if (footprint && *footprint >= window.lo && *footprint <= window.hi) found.push_back(point);
  }
  return found;
}

// Median over the points of a level. Points of one level that differ by more than 5 % show that the
// level has no single bandwidth: the interval then covers all of them.
Parameter ceiling(const Draft& draft, const Points& points) {
  Parameter parameter = from_replicates(
      draft, Unit::byte_per_second,
      replicate(points, [](const std::vector<double>& y) { return median(y); }),
      "median over the footprints inside the level, interval from campaigns", points);
  const std::vector<double> y = values(points);
  const auto [lo, hi] = std::minmax_element(y.begin(), y.end());
  if (*hi > 1.05 * *lo) {
    const Interval own = parameter.interval.value_or(Interval{*lo, *hi});
    parameter.interval = Interval{std::min(own.lo, *lo), std::max(own.hi, *hi)};
    parameter.reason = fmt::format(
        "the bandwidth at the footprints inside this level differs by {:.0f} %: the interval "
        "covers all of them",
        100 * (*hi / *lo - 1));
  }
  const std::vector<double> x = numbers(points, "footprint");
  const auto [first, last] = std::minmax_element(x.begin(), x.end());
  parameter.valid_range["footprint"] = {*first, *last};
  return parameter;
}

Parameter level_bandwidth(const Draft& draft, const Selection& selection, const Points& points,
                          DeviceKind kind, const std::string& level, double threads,
                          const std::string& what) {
  const Unit unit = Unit::byte_per_second;
  if (points.empty()) {
    return unknown(unit, Status::not_measured, missing_reason({{}, selection.refused}, what));
  }
  const auto window = window_of(draft.machine, kind, level, threads);
  if (!window) {
    return unknown(unit, Status::not_identifiable,
                   "neither the facts nor the latency staircase say where this level begins and "
                   "ends");
  }
  Points found = inside(points, *window);
  if (found.empty()) {
    return unknown(unit, Status::not_measured,
                   fmt::format("no usable {} with a footprint between {:g} and {:g} B", what,
                               window->lo, window->hi));
  }
  std::string note;
  if (level == "dram") {
    const Points far = inside(found, {2 * window->lo, window->hi});
    if (far.empty()) note = "footprints below four times the last cache, a part may hit there";
    if (!far.empty()) found = far;
  }
  Parameter parameter = ceiling(draft, found);
  if (!note.empty()) parameter.reason += (parameter.reason.empty() ? "" : "; ") + note;
  return parameter;
}

// The points of one access and scope: on a host by threads, on a GPU by the path that reaches the
// level (through L1, or around it).
Points of_scope(const Points& points, DeviceKind kind, const std::string& level, double threads) {
  if (kind == DeviceKind::cpu) {
    return with(with_or_without(points, "page", "huge"), "threads", threads);
  }
  // A copy engine's time is mostly launch at footprints that a cache could hold.
  const Points by_sm = with_or_without(points, "engine", "sm");
  if (level == "l1") return with_or_without(by_sm, "path", "ca");
  const Points around = with_or_without(by_sm, "path", "cg");
  return around.empty() ? by_sm : around;
}

}  // namespace

void calibrate_bandwidth(const Run& run, DeviceKind kind, Draft& draft) {
  for (const std::string access : {"read", "write", "copy", "triad"}) {
    const std::string quantity = "bandwidth." + access;
    const Selection selection = select(run, quantity);
    const double all_threads = largest(selection.usable, "threads").value_or(1);
    for (const std::string& level : memory_levels(kind)) {
      for (const std::string scope : {"core", "device"}) {
        if (kind == DeviceKind::cuda && scope == "core") continue;
        const double threads = scope == "core" ? 1 : all_threads;
        const Points points = of_scope(selection.usable, kind, level, threads);
        draft.machine.parameters[fmt::format("bandwidth.{}.{}.{}", level, access, scope)] =
            level_bandwidth(draft, selection, points, kind, level, threads, quantity);
      }
    }
  }
}

}  // namespace warpmeter
