// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/benchmark.h"
#include "core/facts.h"

namespace warpmeter {

// What the sweeps need to know of a host.
struct Hierarchy {
  struct Level {
    double size = 0;   // B, of one instance
    int cores_on = 1;  // cores that share an instance
  };
  int cores = 1;
  double line = 64;                 // B
  std::vector<Level> caches;        // innermost first; never empty (48 KiB if nothing is known)
  std::optional<double> available;  // B of memory
};

Hierarchy read_hierarchy(const Facts& facts);

// B that `threads` cores, neighbours in order, have together in a cache level.
double capacity(const Hierarchy& hierarchy, std::size_t level, int threads);
double last_level_capacity(const Hierarchy& hierarchy, int threads);

// The largest working set that a benchmark may use: half of the memory that was available.
double memory_budget(const Hierarchy& hierarchy);

// A footprint that only DRAM holds: four times the last-level cache of `threads` cores, 1 GiB at
// least; less if the memory budget is smaller. Whole 2 MiB pages.
double dram_footprint(const Hierarchy& hierarchy, int threads);

// 1, 2, 4, ... and all cores.
std::vector<int> thread_counts(const Hierarchy& hierarchy, Effort effort);

// Footprints of a latency sweep, ascending whole KiB, from 4 KiB to past the last level: four per
// octave from half to twice the size of the first and the second level, two beyond, one elsewhere
// (thorough: twice as many). Not cut to the memory budget.
std::vector<double> chase_footprints(const Hierarchy& hierarchy, Effort effort);

// Footprints of a bandwidth sweep, ascending multiples of `granule` B: three inside each level and
// one in DRAM; thorough: also around each size.
std::vector<double> stream_footprints(const Hierarchy& hierarchy, int threads, double granule,
                                      Effort effort);

// Why a working set cannot be had here; null if it can.
std::optional<std::string> memory_reason(const Facts& facts, double bytes);
// Why a set that should lie in DRAM does not; null if it is at least twice the last-level cache.
std::optional<std::string> residency_reason(const Facts& facts, double footprint, int threads);
// Why so many threads cannot be had here; null if they can.
std::optional<std::string> threads_reason(const Facts& facts, int threads);
// Why huge pages cannot be had at all; null if they may be had.
std::optional<std::string> huge_pages_reason(const Facts& facts);

// Numeric parameter of a point. Throws InputError naming it if it is missing.
double require_parameter(const Parameters& parameters, const std::string& name);

}  // namespace warpmeter
