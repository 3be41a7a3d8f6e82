// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Lines and sectors of a GPU's caches, and how far their parts lie from an SM.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrator/latency_parameters.h"
#include "calibrator/parameters.h"
#include "core/stats.h"

namespace warpmeter {
namespace {

constexpr double sparse_stride = 512;  // B between nodes of latency.sparse, docs/quantities.md

struct CacheLevel {
  const char* name;   // "l1"
  const char* outer;  // the level that serves its misses
  const char* path;   // of the loads that it serves
};
constexpr CacheLevel cache_levels[] = {{"l1", "l2", "ca"}, {"l2", "dram", "cg"}};

// Halfway between a hit in the level and a hit in the next one.
std::optional<double> threshold(const Machine& machine, const CacheLevel& level) {
  const auto hit = value_of(machine, latency_name(level.name));
  const auto miss = value_of(machine, latency_name(level.outer));
  if (!hit || !miss || *miss <= *hit) return std::nullopt;
  return (*hit + *miss) / 2;
}

Parameter unknown_level(const CacheLevel& level) {
  return unknown(Unit::byte, Status::not_identifiable,
                 fmt::format("the latencies of {} and {} are not known", level.name, level.outer));
}

// The power of two that the interval holds, or else its geometric mean: no line or sector of a GPU
// is known that is not a power of two.
double likely_size(const Interval& interval) {
  const double middle = std::sqrt(interval.lo * interval.hi);
  const double power = std::exp2(std::round(std::log2(middle)));
  return power >= interval.lo && power <= interval.hi ? power : middle;
}

// A set-associative cache that nodes fall into at random serves half of them when there are as many
// nodes as lines: the overflowing sets then hold half of the nodes.
Parameter line_of(const Draft& draft, const Selection& selection, const CacheLevel& level) {
  const std::string what = fmt::format("latency.sparse with path={}", level.path);
  Points points = with(selection.usable, "path", level.path);
  if (points.empty())
    return unknown(Unit::byte, Status::not_measured, missing_reason({{}, selection.refused}, what));
  const auto limit = threshold(draft.machine, level);
  const auto capacity = draft.machine.parameters.find(fmt::format("capacity.{}", level.name));
  if (!limit || capacity == draft.machine.parameters.end() || !capacity->second.interval)
    return unknown_level(level);
  const auto footprint = [](const Measurement* point) {
    return *number(point->parameters, "footprint");
  };
  std::sort(points.begin(), points.end(), [&](const Measurement* a, const Measurement* b) {
    return footprint(a) < footprint(b);
  });
  const auto above = std::find_if(points.begin(), points.end(), [&](const Measurement* point) {
    return *point->value >= *limit;
  });
  if (above == points.begin() || above == points.end()) {
    return unknown(
        Unit::byte, Status::not_identifiable,
        fmt::format("{} does not cross {:.3g} s, halfway to the next level", what, *limit));
  }
  Interval held = *capacity->second.interval;
  // The stated size, where the measured bracket holds it, is sharper.
  const auto stated = fact_number(draft.machine.facts, fmt::format("cache.{}.size", level.name));
  if (stated && *stated >= held.lo && *stated <= held.hi) held = {*stated, *stated};
  Parameter parameter;
  parameter.unit = Unit::byte;
  parameter.interval = Interval{held.lo * sparse_stride / footprint(*above),
                                held.hi * sparse_stride / footprint(*(above - 1))};
  parameter.value = likely_size(*parameter.interval);
  parameter.status = draft.status == Status::measured ? Status::derived : draft.status;
  parameter.method =
      "capacity over the number of nodes in random sectors of sparse lines at which half of the "
      "loads miss (a bracket); the value is the power of two in it";
  parameter.evidence = ids({*(above - 1), *above});
  return parameter;
}

Parameter sector_of(const Draft& draft, const Selection& selection, const CacheLevel& level) {
  const std::string what = fmt::format("latency.pair with path={}", level.path);
  const Points points = with(selection.usable, "path", level.path);
  if (points.empty())
    return unknown(Unit::byte, Status::not_measured, missing_reason({{}, selection.refused}, what));
  const auto limit = threshold(draft.machine, level);
  const auto miss = value_of(draft.machine, latency_name("dram"));
  if (!limit || !miss) return unknown_level(level);
  double longest_hit = 0;
  double shortest_miss = 0;
  for (const Measurement* point : points) {
    const double distance = *number(point->parameters, "distance");
    // The mean of two hops, of which the first misses everywhere.
    if (2 * *point->value - *miss < *limit) {
      longest_hit = std::max(longest_hit, distance);
    } else if (shortest_miss == 0 || distance < shortest_miss) {
      shortest_miss = distance;
    }
  }
  if (shortest_miss <= longest_hit) {
    return unknown(Unit::byte, Status::not_identifiable,
                   fmt::format("the second load of a pair hits up to a distance of {:g} B and "
                               "misses from {:g} B",
                               longest_hit, shortest_miss));
  }
  Parameter parameter;
  parameter.unit = Unit::byte;
  parameter.value = shortest_miss;
  parameter.interval = Interval{longest_hit, shortest_miss};
  parameter.status = draft.status == Status::measured ? Status::derived : draft.status;
  parameter.method =
      "the shortest measured distance at which a load misses what the load before it, at an "
      "aligned address, has fetched (a bracket)";
  parameter.evidence = ids(points);
  return parameter;
}

}  // namespace

void calibrate_geometry(const Run& run, Draft& draft) {
  const Selection sparse = select(run, "latency.sparse");
  const Selection pair = select(run, "latency.pair");
  for (const CacheLevel& level : cache_levels) {
    draft.machine.parameters[fmt::format("line.{}", level.name)] = line_of(draft, sparse, level);
    draft.machine.parameters[fmt::format("sector.{}", level.name)] = sector_of(draft, pair, level);
  }
  const Selection line = select(run, "latency.line");
  for (const std::string which : {"nearest", "farthest"}) {
    Parameter& parameter = draft.machine.parameters[fmt::format("latency.l2.hit.{}_pair", which)];
    const Points points = with(line.usable, "line", which);
    parameter = points.empty() ? unknown(Unit::second, Status::not_measured,
                                         missing_reason(line, "latency.line"))
                               : from_measurement(draft, *points.front(), "");
  }
}

}  // namespace warpmeter
