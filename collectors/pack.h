// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "collectors/catalogue.h"
#include "collectors/cupti_host.h"

namespace warpmeter {

// A counter that is to be collected.
struct PlannedCounter {
  std::string name;
  CounterScope scope;
  std::size_t passes;  // alone
};

// Counters that are collected together: one configuration of CUPTI.
struct PassGroup {
  std::vector<std::string> names;
  bool instrumented = false;
  CounterConfig configuration;
};

// For pass rotation: groups that can be collected at different times. Puts every counter into
// exactly one group. Greedy: counters of one pass, in their order, each into the first group that
// stays at one pass; then the others, the longest first, each where it adds the fewest passes, and
// into a group of its own if no group takes it for less than that. So what fits one pass never
// waits for a replay that another counter needs. Every counter must be one that `chip` can schedule
// alone.
std::vector<PassGroup> pack(const ChipHost& chip, std::vector<PlannedCounter> counters);

// For replay: one group per scope, as few as the profiler allows, whose passes CUPTI distributes.
// It spreads the parts of one metric over passes, so it needs fewer than `pack`, but only all
// passes together give values.
std::vector<PassGroup> pack_for_replay(const ChipHost& chip,
                                       const std::vector<PlannedCounter>& counters);

}  // namespace warpmeter
