// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <string>
#include <vector>

#include "collectors/cupti_host.h"
#include "core/json.h"

namespace warpmeter {

// What a throughput metric is made of: NVIDIA documents its value as the largest of these, each as
// a share of its own peak.
struct Breakdown {
  std::string name;  // base metric: "sm__throughput"
  std::vector<std::string> counters;
  std::vector<Breakdown> parts;
};

// Asks libnvperf_host, which comes with CUPTI (the host API of CUPTI does not tell). Needs no
// device. `metric` is a throughput, with or without roll-up. Throws InputError if the chip is
// unknown or has no such throughput (with the names of those it has), or if the library does not
// tell any more: its functions are deprecated since CUDA 13.0.
Breakdown read_breakdown(const CuptiHost& cupti, const std::string& chip,
                         const std::string& metric);

// {"name": ..., "counters": [...], "parts": [...]}
Json to_json(const Breakdown& breakdown);

}  // namespace warpmeter
