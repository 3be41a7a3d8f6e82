// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cupti_profiler_host.h>

#include <string>
#include <vector>

#include "collectors/cupti_host.h"

namespace warpmeter {

// CUPTI's parameter structs: zero, and as long as the header in use says.
template <typename Params>
Params sized(std::size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}

// The host functions that make a configuration.
struct ConfigureFunctions {
  decltype(cuptiProfilerHostConfigAddMetrics)* add_metrics;
  decltype(cuptiProfilerHostGetConfigImageSize)* image_size;
  decltype(cuptiProfilerHostGetConfigImage)* image;
  decltype(cuptiProfilerHostGetNumOfPasses)* passes;
};

// Adds `names` to `object`; what it refuses leaves it in no stated condition, so that each
// configuration takes an object of its own.
CounterConfig configure_counters(const ConfigureFunctions& cupti,
                                 CUpti_Profiler_Host_Object* object,
                                 const std::vector<std::string>& names);

std::vector<const char*> pointers_to(const std::vector<std::string>& names);

}  // namespace warpmeter
