// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calibrator/levels.h"
#include "core/device.h"
#include "core/facts.h"

namespace warpmeter {

// The memory levels of a kind of device, innermost first: l1 l2 l3 dram, or l1 l2 dram.
std::vector<std::string> memory_levels(DeviceKind kind);

// Footprints between which a level, by its nominal size, serves a set that several cores share.
// `hi` of DRAM is infinite. Null if the facts do not say the size of the level or of the next inner
// one.
struct Range {
  double lo = 0, hi = 0;
};
std::optional<Range> nominal_range(const Facts& facts, DeviceKind kind, const std::string& level,
                                   double threads = 1);

// Which found levels (indices into Staircase::levels) serve which memory level. Several indices
// are the modes of one memory level, the widest first.
struct NamedLevels {
  std::map<std::string, std::vector<std::size_t>> by_name;
  std::map<std::string, std::string> notes;  // what to know: a mismatch with the facts, a guess
};

// By the nominal sizes in `facts`; by order where they say nothing. On a GPU the last level is DRAM
// and `first` ("l1", or "l2" for loads that bypass L1) the first; all others are modes of L2 (near
// and far partition).
NamedLevels name_levels(const Staircase& staircase, const Facts& facts, DeviceKind kind,
                        const std::string& first);

}  // namespace warpmeter
