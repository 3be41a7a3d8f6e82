// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "collectors/plan.h"

namespace warpmeter {

// A logical metric and what stands for it on one chip.
struct WantedMetric {
  const LogicalMetric* metric = nullptr;
  std::string counter;  // CUPTI's name; empty: by the metric's formula
  std::string why;      // one line, if it cannot be measured; else empty
};

// What the range profiler collects on one chip: metrics (inputs of formulas included) and the
// counters of each pass group.
struct CounterPlan {
  std::vector<WantedMetric> metrics;
  std::vector<std::vector<std::string>> groups;

  // Null if there is none of this id.
  const WantedMetric* find(std::string_view id) const;
};

// The groups of pass rotation.
CounterPlan counter_plan(const MetricPlan& plan);

// Whose work is in the value of a counter, as counters.scope of the profile says it: SM and L1
// count for one context; L2, DRAM, links and what is made of them see all of the device.
std::string_view scope_of(const CounterPlan& plan, const WantedMetric& metric);

}  // namespace warpmeter
