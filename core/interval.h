// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

namespace warpmeter {

// Closed interval in the unit of the value that it belongs to.
struct Interval {
  double lo = 0;
  double hi = 0;
  bool operator==(const Interval&) const = default;
};

// The level of every interval that warpmeter reports unless a record says otherwise.
inline constexpr double default_level = 0.9;

}  // namespace warpmeter
