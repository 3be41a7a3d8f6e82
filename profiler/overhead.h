// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"

namespace warpmeter {

// A stretch of time in which all collectors were armed, or none, and the launches in it.
struct Window {
  bool armed = false;
  std::int64_t from_ns = 0, to_ns = 0;
  std::uint64_t launches = 0;
};

// What collecting costs the program: rate of launches unarmed / armed - 1, at level 0.9.
struct OverheadEstimate {
  std::optional<double> value, low, high;  // null: not known, `reason` says why
  bool unstable = false;                   // the rates vary too much to rely on it
  std::string reason;                      // empty: nothing to say
  std::size_t windows = 0;

  // There is a value, and it can be relied on.
  bool ok() const { return value && !unstable; }
};
Json to_json(const OverheadEstimate& estimate);

// "0.8 % (0.2 to 1.4 %)", or why it is not known.
std::string describe(const OverheadEstimate& estimate);

// Windows in pairs, one armed and one not, whose order alternates (ABBA). Of each pair, y = ln(rate
// unarmed / rate armed) = ln(1 + overhead) + s d + scatter, with s = 1 if the armed one came first
// and -1 if not; d is a steady drift of the rate. Least squares gives the mean of the two orders'
// means, var = s2 (1/n1 + 1/n2) / 4, s2 from the residuals with n1 + n2 - 2 degrees of freedom
// (Montgomery, Design and Analysis of Experiments, crossover designs; Student's t). A count is
// whole: s2 is at least (1/a^2 + 1/b^2) / 6, the variance of the ends of windows with a and b
// launches. Null with fewer than 2 pairs of each order, or with a window of under 20 launches.
OverheadEstimate estimate_overhead(std::span<const Window> windows);

}  // namespace warpmeter
