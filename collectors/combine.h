// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Values of metrics from passes that were taken at different launches of one kernel in one shape.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "collectors/counter_plan.h"
#include "core/interval.h"
#include "core/measurement.h"

namespace warpmeter {

// What must be the same in every pass for passes to be combined; null: the pass did not count it.
struct Invariants {
  std::optional<double> cycles;        // sm__cycles_elapsed.max
  std::optional<double> instructions;  // sm__inst_executed.sum
};

inline constexpr const char* cycles_counter = "sm__cycles_elapsed.max";
inline constexpr const char* instructions_counter = "sm__inst_executed.sum";

// A coefficient of variation above this makes a kernel `unstable`.
inline constexpr double invariant_limit = 0.02;

// Launches that were measured, by pass group: values of the group's counters in their order, in
// CUPTI's units.
struct PassSamples {
  explicit PassSamples(const CounterPlan& plan) : groups(plan.groups.size()) {}

  std::vector<std::vector<std::vector<double>>> groups;
  std::vector<Invariants> invariants;  // of all launches
};

struct MetricValue {
  const LogicalMetric* metric = nullptr;
  std::optional<double> value;  // SI, after the metric's scale; null: `reason` says why
  std::optional<Interval> interval;
  std::string_view scope;
  std::int64_t launches = 0;  // that are in it, passes of all its groups
  Verdict verdict = Verdict::ok;
  std::string reason;
};

// Sample standard deviation over mean; null below two values or for a mean of 0.
std::optional<double> variation(const std::vector<double>& values);

// One line with the figure if an invariant varies by more than `invariant_limit`, else empty.
std::string why_unstable(const std::vector<Invariants>& launches);

// Every metric of the plan. A counter's value is the mean over its launches, a formula's the
// formula of the means. Standard uncertainty by the law of propagation (JCGM 100:2008, 5.1.2), with
// the covariance of counters of one group, for they were counted in the same launches: per group
// g, u_g^2 = s^2(sum over its counters j of df/dx_j * x_j) / n_g; u^2 is the sum of u_g^2.
// Interval: value +- t * u at default_level, Student's t with the Welch-Satterthwaite degrees of
// freedom u^4 / sum of u_g^4 / (n_g - 1) (JCGM 100:2008, G.4.1). No interval where a group has one
// launch. A kernel whose invariants vary is `unstable` in all its values, with the figure; a group
// without launches gives null.
std::vector<MetricValue> combine(const CounterPlan& plan, const PassSamples& samples);

}  // namespace warpmeter
