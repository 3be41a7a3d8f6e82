// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUPTI's functions that act on this process and its devices, as one table, so that nothing links
// libcupti and tests can put their own functions in. For planning without a device: cupti_host.h.
#pragma once

#include <cupti.h>
#include <cupti_pcsampling.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstddef>
#include <string>

#include "core/shared_library.h"

namespace warpmeter {

// clang-format off
#define WARPMETER_CUPTI_FUNCTIONS(X) \
  X(cuptiGetVersion) \
  X(cuptiGetTimestamp) \
  X(cuptiSetThreadIdType) \
  X(cuptiGetDeviceId) \
  X(cuptiGetContextId) \
  X(cuptiGetStreamIdEx) \
  X(cuptiSubscribe_v2) \
  X(cuptiUnsubscribe) \
  X(cuptiEnableCallback) \
  X(cuptiEnableDomain) \
  X(cuptiGetGraphId) \
  X(cuptiGetGraphNodeId) \
  X(cuptiGetGraphExecId) \
  X(cuptiActivityEnable) \
  X(cuptiActivityDisable) \
  X(cuptiActivityRegisterCallbacks) \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityGetNextRecord) \
  X(cuptiActivityGetNumDroppedRecords) \
  X(cuptiActivityFlushAll) \
  X(cuptiActivitySetAttribute) \
  X(cuptiActivityEnableRuntimeApi) \
  X(cuptiActivityEnableDriverApi) \
  X(cuptiDeviceGetChipName) \
  X(cuptiProfilerInitialize) \
  X(cuptiProfilerDeInitialize) \
  X(cuptiProfilerDeviceSupported) \
  X(cuptiProfilerGetCounterAvailability) \
  X(cuptiProfilerHostInitialize) \
  X(cuptiProfilerHostDeinitialize) \
  X(cuptiProfilerHostConfigAddMetrics) \
  X(cuptiProfilerHostGetConfigImageSize) \
  X(cuptiProfilerHostGetConfigImage) \
  X(cuptiProfilerHostGetNumOfPasses) \
  X(cuptiProfilerHostEvaluateToGpuValues) \
  X(cuptiProfilerHostGetRangeName) \
  X(cuptiPmSamplingEnable) \
  X(cuptiPmSamplingDisable) \
  X(cuptiPmSamplingSetConfig) \
  X(cuptiPmSamplingStart) \
  X(cuptiPmSamplingStop) \
  X(cuptiPmSamplingDecodeData) \
  X(cuptiPmSamplingGetCounterAvailability) \
  X(cuptiPmSamplingGetCounterDataSize) \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo) \
  X(cuptiPmSamplingCounterDataGetSampleInfo) \
  X(cuptiRangeProfilerEnable) \
  X(cuptiRangeProfilerDisable) \
  X(cuptiRangeProfilerSetConfig) \
  X(cuptiRangeProfilerStart) \
  X(cuptiRangeProfilerStop) \
  X(cuptiRangeProfilerPushRange) \
  X(cuptiRangeProfilerPopRange) \
  X(cuptiRangeProfilerDecodeData) \
  X(cuptiRangeProfilerGetCounterDataSize) \
  X(cuptiRangeProfilerCounterDataImageInitialize) \
  X(cuptiRangeProfilerGetCounterDataInfo) \
  X(cuptiRangeProfilerCounterDataGetRangeInfo) \
  X(cuptiPCSamplingEnable) \
  X(cuptiPCSamplingDisable) \
  X(cuptiPCSamplingStart) \
  X(cuptiPCSamplingStop) \
  X(cuptiPCSamplingGetData) \
  X(cuptiPCSamplingSetConfigurationAttribute) \
  X(cuptiPCSamplingGetNumStallReasons) \
  X(cuptiPCSamplingGetStallReasons) \
  X(cuptiGetSassToSourceCorrelation) \
  X(cuptiGetCubinCrc)
// clang-format on

// Each as cupti's headers document it.
struct CuptiApi {
#define WARPMETER_CUPTI_MEMBER(name) decltype(&::name) name = nullptr;
  WARPMETER_CUPTI_FUNCTIONS(WARPMETER_CUPTI_MEMBER)
#undef WARPMETER_CUPTI_MEMBER
};

// The table of an open library. Throws InputError, one line with the remedy, if a function is
// missing: the library is older than CUDA 13.0.
CuptiApi bind_cupti(const SharedLibrary& library, const std::string& path);

// "GH100", as cuptiDeviceGetChipName says of the device with this ordinal; empty if it does not
// know.
std::string chip_name(const CuptiApi& api, std::size_t ordinal);

// Throws InputError: "timeline: cuptiActivityEnable: CUPTI_ERROR_...: meaning; remedy".
void check_cupti(CUptiResult result, const char* collector, const char* call);

}  // namespace warpmeter
