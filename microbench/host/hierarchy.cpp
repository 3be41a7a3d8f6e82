// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "microbench/host/hierarchy.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/error.h"
#include "core/unit.h"

namespace warpmeter {

namespace {

constexpr double kib = 1024;
constexpr double mib = 1024 * kib;
constexpr double gib = 1024 * mib;

double round_to(double value, double unit) {
  return std::max(1.0, std::round(value / unit)) * unit;
}

// Ascending, without points closer than `gap` to a larger one that was kept.
std::vector<double> thinned(std::vector<double> values, double gap) {
  std::sort(values.begin(), values.end(), std::greater<>());
  std::vector<double> kept;
  for (double value : values)
    if (kept.empty() || value * gap < kept.back()) kept.push_back(value);
  std::reverse(kept.begin(), kept.end());
  return kept;
}

// lo, lo * 2^(1/per_octave), ... up to hi.
void append_octaves(std::vector<double>& points, double lo, double hi, int per_octave) {
  for (int i = 0; lo * std::exp2(1.0 * i / per_octave) < hi * 1.001; ++i)
    points.push_back(lo * std::exp2(1.0 * i / per_octave));
}

}  // namespace

Hierarchy read_hierarchy(const Facts& facts) {
  Hierarchy hierarchy;
  hierarchy.cores = static_cast<int>(std::max(1.0, fact_number(facts, "cpu.cores").value_or(1)));
  hierarchy.line = fact_number(facts, "cache.l1d.line").value_or(64);
  hierarchy.available = fact_number(facts, "memory.available");
  if (!hierarchy.available) hierarchy.available = fact_number(facts, "memory.total");
  const double threads_per_core =
      std::max(1.0, fact_number(facts, "cpu.threads").value_or(hierarchy.cores) / hierarchy.cores);
  for (const char* name : {"cache.l1d", "cache.l2", "cache.l3"}) {
    const std::string prefix = name;
    const std::optional<double> size = fact_number(facts, prefix + ".size");
    if (!size || *size <= 0) continue;
    const double sharers = fact_number(facts, prefix + ".shared_by").value_or(threads_per_core);
    hierarchy.caches.push_back(
        {*size, static_cast<int>(std::max(1.0, std::round(sharers / threads_per_core)))});
  }
  if (hierarchy.caches.empty()) hierarchy.caches.push_back({48 * kib, 1});
  return hierarchy;
}

double capacity(const Hierarchy& hierarchy, std::size_t level, int threads) {
  const Hierarchy::Level& cache = hierarchy.caches.at(level);
  return cache.size * std::ceil(static_cast<double>(threads) / cache.cores_on);
}

double last_level_capacity(const Hierarchy& hierarchy, int threads) {
  return capacity(hierarchy, hierarchy.caches.size() - 1, threads);
}

double memory_budget(const Hierarchy& hierarchy) {
  return hierarchy.available ? *hierarchy.available / 2 : 2 * gib;
}

double dram_footprint(const Hierarchy& hierarchy, int threads) {
  const double wanted = std::max(4 * last_level_capacity(hierarchy, threads), gib);
  const double had = std::min(wanted, memory_budget(hierarchy));
  return std::max(1.0, std::floor(had / (2 * mib))) * 2 * mib;
}

std::vector<int> thread_counts(const Hierarchy& hierarchy, Effort effort) {
  std::vector<int> counts;
  for (int count = 1; count < hierarchy.cores; count *= 2)
    if (count == 1 || effort != Effort::quick) counts.push_back(count);
  counts.push_back(hierarchy.cores);
  return counts;
}

std::vector<double> chase_footprints(const Hierarchy& hierarchy, Effort effort) {
  const double top = std::max(4 * last_level_capacity(hierarchy, 1), gib);
  std::vector<double> points;
  if (effort == Effort::quick) {
    for (const Hierarchy::Level& cache : hierarchy.caches)
      points.push_back(round_to(std::min(cache.size / 2, 16 * mib), kib));
    return thinned(points, 1.06);
  }
  const int density = effort == Effort::thorough ? 2 : 1;
  // Others (guests of this machine, too) hold a part of a shared last level, so that its knee may
  // lie anywhere: from the second level on the sweep is even.
  const std::size_t known = std::min<std::size_t>(hierarchy.caches.size(), 2);
  for (std::size_t level = 0; level < known; ++level)
    append_octaves(points, hierarchy.caches[level].size / 2, hierarchy.caches[level].size * 2,
                   4 * density);
  append_octaves(points, 4 * kib, hierarchy.caches[0].size / 2.1, density);
  if (known == 2)
    append_octaves(points, hierarchy.caches[0].size * 2.5, hierarchy.caches[1].size / 2.1, density);
  // Down from the top, so that the points beyond the last level are at its double and above.
  for (double at = top; at > hierarchy.caches[known - 1].size * 2; at /= std::exp2(0.5 / density))
    points.push_back(at);
  for (double& point : points) point = std::min(round_to(point, kib), round_to(top, kib));
  return thinned(points, effort == Effort::thorough ? 1.02 : 1.1);
}

std::vector<double> stream_footprints(const Hierarchy& hierarchy, int threads, double granule,
                                      Effort effort) {
  std::vector<double> points;
  const double dram = dram_footprint(hierarchy, threads);
  if (effort == Effort::quick) {
    points = {capacity(hierarchy, 0, threads) / 2, std::min(dram, 32 * mib)};
  } else {
    double inner = 0;  // total capacity of the level inside
    for (std::size_t level = 0; level < hierarchy.caches.size(); ++level) {
      const double size = capacity(hierarchy, level, threads);
      // From four times the inner level, where it no longer helps.
      const double low = std::min(std::max(4 * inner, size / 4), size / 2);
      if (level + 1 < hierarchy.caches.size()) {
        for (double share : {low / size, 0.5, 0.75}) points.push_back(size * share);
      } else {  // others may hold a part of the last level, so it is swept from small to large
        const double small = std::min(4 * inner, size / 4);
        for (double at : {small, std::sqrt(small * size / 2), size / 2}) points.push_back(at);
      }
      if (effort == Effort::thorough)
        for (double factor : {0.75, 1.0, 1.25, 1.5, 2.0}) points.push_back(size * factor);
      inner = size;
    }
    if (effort == Effort::thorough) points.push_back(std::min(2 * inner, dram));
    points.push_back(dram);
  }
  // Down, so that a set meant to fit a level does; the largest stays within the memory budget.
  for (double& point : points)
    point = std::max(1.0, std::floor(std::min(point, dram) / granule)) * granule;
  return thinned(points, 1.06);
}

std::optional<std::string> memory_reason(const Facts& facts, double bytes) {
  const Hierarchy hierarchy = read_hierarchy(facts);
  const double budget = memory_budget(hierarchy);
  if (bytes <= budget) return std::nullopt;
  return fmt::format("needs {} of memory; half of what is available is {}", format_bytes(bytes),
                     format_bytes(budget));
}

std::optional<std::string> residency_reason(const Facts& facts, double footprint, int threads) {
  const double cache = last_level_capacity(read_hierarchy(facts), threads);
  if (footprint >= 2 * cache) return std::nullopt;
  return fmt::format("memory allows {} only: DRAM needs at least twice the last-level cache of {}",
                     format_bytes(footprint), format_bytes(cache));
}

std::optional<std::string> threads_reason(const Facts& facts, int threads) {
  const int cores = read_hierarchy(facts).cores;
  if (threads <= cores) return std::nullopt;
  if (cores == 1) return fmt::format("one core only: needs {}", threads);
  return fmt::format("needs {} cores, {} are there", threads, cores);
}

std::optional<std::string> huge_pages_reason(const Facts& facts) {
  const std::string setting = fact_text(facts, "page.huge.transparent");
  if (setting.empty()) return "no huge pages: this system has no transparent huge pages";
  if (setting == "never" || setting.find("[never]") != std::string::npos)
    return "no huge pages: transparent huge pages are switched off (never)";
  return std::nullopt;
}

double require_parameter(const Parameters& parameters, const std::string& name) {
  const std::optional<double> value = number(parameters, name);
  if (!value) throw InputError(fmt::format("parameter {} is missing or not a number", name));
  return *value;
}

}  // namespace warpmeter
