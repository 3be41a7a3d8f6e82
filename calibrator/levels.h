// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/interval.h"

namespace warpmeter {

// Whether the quantity grows with the footprint (latency) or shrinks (bandwidth).
enum class Trend { rising, falling };

struct LevelSettings {
  Trend trend = Trend::rising;
  double band = 0.05;        // a level's values lie within +-band of each other's middle, relative
  double edge = 0.03;        // "all hit" means within this of the level's value, relative
  double merge_ratio = 1.2;  // closer neighbours are modes of one level, not levels
  double min_octaves = 0.5;  // narrower runs are part of a transition
  std::size_t min_points = 3;  // one or two samples in a ramp never make a level
};

// A run of points at one value.
struct Mode {
  double value = 0;  // median of the run
  double x_first = 0, x_last = 0;
};

// A level of a staircase. Modes beyond the widest one exist where hardware serves a level in more
// than one way (near and far L2 slices, a TLB step inside DRAM).
struct Level {
  double value = 0;                 // of the widest mode
  double x_first = 0, x_last = 0;   // first and last x within `edge` of the value
  std::size_t first = 0, last = 0;  // their indices
  std::vector<Mode> modes;          // by rising x; at least one
  std::size_t flat_first = 0;       // the points whose median the value is
  std::size_t flat_last = 0;
};

struct Staircase {
  std::vector<Level> levels;    // by rising x; empty if the curve has none
  std::vector<Interval> knees;  // [last all-hit, first all-miss] in x, between neighbours
  double noise = 0;             // relative standard deviation of one point, robust
};

// Finds the levels of a curve y(x): the widest runs in log x whose log y stays in a band, after a
// running median of three. Soft ramps between them are transitions. x must rise strictly and both
// must be positive (std::invalid_argument otherwise). Works from about 8 points; a curve without a
// level gives an empty staircase.
Staircase detect_levels(std::span<const double> x, std::span<const double> y,
                        const LevelSettings& settings = {});

// Median of y in which each point counts with the log x that it stands for, so that the value does
// not depend on where the grid happens to be dense. Same length, not empty.
double level_median(std::span<const double> x, std::span<const double> y);

}  // namespace warpmeter
