// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <cupti_profiler_host.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "collectors/cupti_host.h"

namespace warpmeter {

struct CuptiApi;

// What planning and evaluation need of CUPTI.
struct HostFunctions {
  decltype(cuptiProfilerHostInitialize)* initialize = nullptr;
  decltype(cuptiProfilerHostDeinitialize)* deinitialize = nullptr;
  decltype(cuptiProfilerHostConfigAddMetrics)* add_metrics = nullptr;
  decltype(cuptiProfilerHostGetConfigImageSize)* image_size = nullptr;
  decltype(cuptiProfilerHostGetConfigImage)* image = nullptr;
  decltype(cuptiProfilerHostGetNumOfPasses)* passes = nullptr;
  decltype(cuptiProfilerHostEvaluateToGpuValues)* evaluate = nullptr;
};

CUpti_ProfilerType cupti_type(Profiler profiler);

HostFunctions host_functions(const CuptiApi& api);

// A host object of CUPTI. Metrics that it refuses leave it in no stated condition, so that each
// configuration takes its own.
class HostSession {
 public:
  // `availability` as cuptiProfilerGetCounterAvailability gives it; empty: as the chip has it.
  HostSession(const HostFunctions& functions, const std::string& chip, Profiler profiler,
              std::span<const std::uint8_t> availability = {});
  ~HostSession();
  HostSession(const HostSession&) = delete;
  HostSession& operator=(const HostSession&) = delete;

  int error() const { return error_; }  // of its creation: a CUptiResult
  CUpti_Profiler_Host_Object* object() const { return object_; }

  CounterConfig configure(const std::vector<std::string>& names) const;

  // The values of `names` in range `index` of a counter-data image, in CUPTI's units; a CUptiResult
  // if it refuses.
  int evaluate(std::span<const std::uint8_t> counter_data, std::size_t index,
               const std::vector<std::string>& names, std::vector<double>& values) const;

 private:
  HostFunctions f_;
  int error_ = 0;
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

}  // namespace warpmeter
