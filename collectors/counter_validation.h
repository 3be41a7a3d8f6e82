// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/interval.h"

namespace warpmeter {

// One run of a kernel whose work is known, in the metric's unit.
struct KnownWork {
  double expected = 0;            // by the kernel's own formula, above 0
  std::optional<double> counted;  // null: the counter gave nothing
};

enum class CounterVerdict { ok, doubled, halved, missing, wrong, uncertain };
std::string_view to_string(CounterVerdict verdict);

// How far a gain may be from 1, 2 or 1/2, relative, to be taken for it.
inline constexpr double gain_tolerance = 0.02;

// What a counter does with known work: counted = gain * expected + offset.
struct CounterCheck {
  std::optional<double> gain, offset;  // 1, unit of the metric; null: fewer than two sizes of work
  std::optional<Interval> gain_interval, offset_interval;  // at default_level; null below 3 runs
  CounterVerdict verdict = CounterVerdict::uncertain;
  std::string reason;  // one line, empty for ok
};

// Ordinary least squares of counted/expected on 1/expected, whose intercept is the gain and whose
// slope is the offset: errors of counters grow with what they count, so that relative ones have
// one variance. Intervals by Student's t with n - 2 degrees of freedom (Draper and Smith, Applied
// Regression Analysis, 3rd ed., 1.4). `ok`, `doubled`, `halved`: the gain is within the tolerance
// of 1, 2, 1/2, and its interval is no wider than twice the tolerance; `uncertain`: it is wider,
// or there is none; `missing`: nothing was counted, or 0 in every run; else `wrong`, which is also
// an offset above the tolerance of the smallest work with its whole interval.
CounterCheck check_counter(const std::vector<KnownWork>& runs);

}  // namespace warpmeter
