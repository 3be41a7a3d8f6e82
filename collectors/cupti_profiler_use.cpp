// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_profiler_use.h"

#include <mutex>

#include "collectors/cupti_params.h"

namespace warpmeter {
namespace {

std::mutex mutex;
int users = 0;

}  // namespace

CuptiProfilerUse::CuptiProfilerUse(const CuptiApi& api, const char* collector) : api_(api) {
  const std::lock_guard lock(mutex);
  if (users == 0) {
    auto params =
        sized<CUpti_Profiler_Initialize_Params>(CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
    check_cupti(api_.cuptiProfilerInitialize(&params), collector, "cuptiProfilerInitialize");
  }
  ++users;
}

CuptiProfilerUse::~CuptiProfilerUse() {
  const std::lock_guard lock(mutex);
  if (--users > 0) return;
  auto params =
      sized<CUpti_Profiler_DeInitialize_Params>(CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE);
  (void)api_.cuptiProfilerDeInitialize(&params);
}

}  // namespace warpmeter
