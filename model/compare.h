// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "core/run.h"
#include "model/machine.h"

namespace warpmeter {

// Whether two documents of different devices or sources may be compared.
enum class Mixing { refuse, allow };

// A number that both documents have and on which they disagree: the intervals do not overlap.
struct Difference {
  std::string name;
  Unit unit = Unit::one;
  double a = 0, b = 0;
  Interval interval_a, interval_b;
  double change = 0;  // b / a - 1; 0 if a is zero
  double gap = 0;     // between the nearer ends of the intervals, over |a|; 0 if a is zero
};

struct Comparison {
  std::size_t compared = 0;  // values with an interval in both
  std::size_t overlapping = 0;
  std::vector<Difference> differences;        // by falling |change|
  std::vector<std::string> without_interval;  // in both with a value, but not with two intervals
  std::vector<std::string> only_a, only_b;    // value in one only

  // Null if nothing could be compared.
  std::optional<double> share_overlapping() const;
};

// Parameters by name. Throws InputError if device, product (facts cpu.model, name, product) or
// source differ and mixing is refused.
Comparison compare(const Machine& a, const Machine& b, Mixing mixing = Mixing::refuse);

// Measurements by id; those without a usable verdict count as without value. As above.
Comparison compare(const Run& a, const Run& b, Mixing mixing = Mixing::refuse);

Json to_json(const Comparison& comparison);
std::string format_table(const Comparison& comparison);

}  // namespace warpmeter
