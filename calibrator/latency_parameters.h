// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <map>
#include <string>

#include "calibrator/draft.h"
#include "core/device.h"

namespace warpmeter {

// What one latency staircase says of each memory level ("l1", "l2", "l3", "dram").
struct LevelEstimates {
  std::map<std::string, Parameter> latency;   // latency.<level>.hit, latency.dram
  std::map<std::string, Parameter> capacity;  // value in the middle (log) of the knee's interval
  std::map<std::string, std::vector<double>> replicates;  // of the latencies
};

// `points` of latency.chase by rising footprint. `first` is the innermost level that the loads can
// hit. A level without a plateau falls back to the footprints inside its nominal size if the facts
// say one, with the whole range as interval, and is not identifiable if they differ by more than a
// factor of two.
LevelEstimates estimate_levels(const Draft& draft, const Points& points, DeviceKind kind,
                               const std::string& first);

// "latency.l2.hit", "latency.dram".
std::string latency_name(const std::string& level);

// Fills latency.<level>.hit, latency.dram, capacity.<level> and, on a host, latency.tlb_miss.
void calibrate_latency(const Run& run, DeviceKind kind, Draft& draft);

}  // namespace warpmeter
