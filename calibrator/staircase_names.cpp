// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/staircase_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/unit.h"

namespace warpmeter {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The size that `threads` neighbouring cores have together in a cache, if the facts say it.
std::optional<double> size_of(const Facts& facts, const std::string& level, double threads) {
  const std::string fact = "cache." + (level == "l1" ? std::string("l1d") : level);
  const auto size = fact_number(facts, fact + ".size");
  if (!size || *size <= 0) return std::nullopt;
  const double threads_per_core =
      std::max(1.0, fact_number(facts, "cpu.threads").value_or(1) /
                        std::max(1.0, fact_number(facts, "cpu.cores").value_or(1)));
  const double sharers = fact_number(facts, fact + ".shared_by").value_or(threads_per_core);
  const double cores_on = std::max(1.0, std::round(sharers / threads_per_core));
  return *size * std::ceil(threads / cores_on);
}

double octaves(double lo, double hi) { return hi > lo ? std::log2(hi / lo) : 0; }

double width(const Level& level) { return octaves(level.x_first, level.x_last); }

void add(NamedLevels& named, const Staircase& staircase, const std::string& name,
         std::size_t index) {
  auto& indices = named.by_name[name];
  indices.push_back(index);
  std::sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
    return width(staircase.levels[a]) > width(staircase.levels[b]);
  });
}

// The cache whose nominal range the level overlaps most.
std::string best_overlap(const Level& level, const Facts& facts,
                         const std::vector<std::string>& caches) {
  std::string best = caches.front();
  double most = -1;
  for (const std::string& cache : caches) {
    const Range range = *nominal_range(facts, DeviceKind::cpu, cache);
    const double overlap =
        octaves(std::max(level.x_first, range.lo), std::min(level.x_last, range.hi));
    if (overlap > most) {
      most = overlap;
      best = cache;
    }
  }
  return best;
}

NamedLevels name_by_size(const Staircase& staircase, const Facts& facts,
                         const std::vector<std::string>& caches) {
  NamedLevels named;
  const std::string& last_cache = caches.back();
  const double last_size = nominal_range(facts, DeviceKind::cpu, last_cache)->hi;
  for (std::size_t i = 0; i < staircase.levels.size(); ++i) {
    const Level& level = staircase.levels[i];
    const bool outermost = i + 1 == staircase.levels.size();
    if (!outermost || level.x_last <= 1.5 * last_size) {
      add(named, staircase, best_overlap(level, facts, caches), i);
      continue;
    }
    add(named, staircase, "dram", i);
    if (level.x_first < 0.7 * last_size) {
      named.notes["dram"] = fmt::format(
          "the level begins at {}, below the nominal {} of {}: less of that cache serves us",
          format_bytes(level.x_first), format_bytes(last_size), last_cache);
    }
  }
  for (const std::string& cache : caches) {
    const auto found = named.by_name.find(cache);
    if (found == named.by_name.end()) continue;
    const Level& level = staircase.levels[found->second.front()];
    const double size = nominal_range(facts, DeviceKind::cpu, cache)->hi;
    if (level.x_last < 0.4 * size || level.x_last > 1.6 * size) {
      named.notes[cache] = fmt::format("all hits end at {}, but the nominal size is {}",
                                       format_bytes(level.x_last), format_bytes(size));
    }
  }
  return named;
}

NamedLevels name_by_order(const Staircase& staircase, const std::vector<std::string>& names) {
  NamedLevels named;
  const std::size_t found = staircase.levels.size();
  for (std::size_t i = 0; i < found; ++i) {
    const bool outermost = i + 1 == found && found > 1;
    const std::string& name = outermost ? names.back() : names[std::min(i, names.size() - 2)];
    add(named, staircase, name, i);
    named.notes[name] = "the facts do not say the cache sizes: named by order";
  }
  return named;
}

NamedLevels name_gpu_levels(const Staircase& staircase, const Facts& facts,
                            const std::string& first) {
  NamedLevels named;
  const auto l2_size = fact_number(facts, "cache.l2.size");
  for (std::size_t i = 0; i < staircase.levels.size(); ++i) {
    const Level& level = staircase.levels[i];
    const bool outermost = i + 1 == staircase.levels.size();
    const bool beyond_l2 = l2_size ? level.x_last > 1.5 * *l2_size : i > 0;
    if (outermost && beyond_l2) {
      add(named, staircase, "dram", i);
    } else if (i == 0) {
      add(named, staircase, first, i);
    } else {
      add(named, staircase, "l2", i);
    }
  }
  return named;
}

}  // namespace

std::vector<std::string> memory_levels(DeviceKind kind) {
  if (kind == DeviceKind::cuda) return {"l1", "l2", "dram"};
  return {"l1", "l2", "l3", "dram"};
}

std::optional<Range> nominal_range(const Facts& facts, DeviceKind kind, const std::string& level,
                                   double threads) {
  double inner = 0;
  for (const std::string& name : memory_levels(kind)) {
    if (name == "dram") break;
    const auto size = size_of(facts, name, threads);
    if (name == level) return size ? std::optional(Range{inner, *size}) : std::nullopt;
    if (!size && name == "l3" && level == "dram") break;  // a host without L3
    if (!size) return std::nullopt;
    inner = *size;
  }
  if (level != "dram" || inner <= 0) return std::nullopt;
  return Range{inner, infinity};
}

NamedLevels name_levels(const Staircase& staircase, const Facts& facts, DeviceKind kind,
                        const std::string& first) {
  if (kind == DeviceKind::cuda) return name_gpu_levels(staircase, facts, first);
  std::vector<std::string> caches = memory_levels(kind);
  caches.pop_back();
  std::erase_if(caches, [&](const std::string& cache) {
    return !nominal_range(facts, kind, cache).has_value();
  });
  if (caches.empty()) return name_by_order(staircase, memory_levels(kind));
  return name_by_size(staircase, facts, caches);
}

}  // namespace warpmeter
