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

// Puts every counter into exactly one group, with few passes in all. Greedy: counters of one pass
// come first, in their order, each into the first group that stays at one pass; then the others,
// the longest first, each where it adds the fewest passes, and into a group of its own if no group
// takes it for less than that. So counters of one pass never wait for a replay that another needs.
// Every counter must be one that `chip` can schedule alone.
std::vector<PassGroup> pack(const ChipHost& chip, std::vector<PlannedCounter> counters);

}  // namespace warpmeter
