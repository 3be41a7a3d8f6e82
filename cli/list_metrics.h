// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>

namespace warpmeter {

// What `list --metrics` was asked for; empty means not given.
struct MetricsArguments {
  std::string chip;
  std::string set;
  std::string collector;  // default: range
  std::string breakdown;  // a throughput: its id or its counter
  bool json = false;

  bool given() const {
    return !chip.empty() || !set.empty() || !collector.empty() || !breakdown.empty();
  }
};

// Prints the counters of a chip that need not be here, how they are collected, and what the chip
// lacks; or the tree of one throughput. Throws InputError for an unknown chip, set or collector,
// and if there is no CUPTI. False if CUPTI plans nothing for this chip with this collector.
bool list_metrics(const MetricsArguments& arguments);

}  // namespace warpmeter
