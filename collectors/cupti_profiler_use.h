// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include "collectors/cupti_api.h"

namespace warpmeter {

// Keeps CUPTI's profiler (PM sampling, range profiler) initialized. CUPTI does not count how often
// it was, and a second cuptiProfilerDeInitialize crashes, so this counts for the whole process: the
// first one initializes, the last one ends it. Any thread.
class CuptiProfilerUse {
 public:
  CuptiProfilerUse(const CuptiApi& api, const char* collector);  // Throws InputError.
  ~CuptiProfilerUse();
  CuptiProfilerUse(const CuptiProfilerUse&) = delete;
  CuptiProfilerUse& operator=(const CuptiProfilerUse&) = delete;

 private:
  const CuptiApi& api_;
};

}  // namespace warpmeter
