// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Ranges around each launch, or automatic ones.
#include "tests/emulator/driver/client_profile.h"

namespace client {

void start_ranges(CUcontext context) {
  Profiler& p = profiler();
  if (!plan(CUPTI_PROFILER_TYPE_RANGE_PROFILER)) return;
  PARAMS(CUpti_RangeProfiler_Enable, enable);
  enable.ctx = context;
  if (check(cuptiRangeProfilerEnable(&enable), "range enable") != CUPTI_SUCCESS) return;
  p.range = enable.pRangeProfilerObject;
  PARAMS(CUpti_RangeProfiler_GetCounterDataSize, size);
  size.pRangeProfilerObject = p.range;
  size.pMetricNames = p.names.data();
  size.numMetrics = p.names.size();
  size.maxNumOfRanges = 16;
  size.maxNumRangeTreeNodes = 16;
  check(cuptiRangeProfilerGetCounterDataSize(&size), "range size");
  p.image.resize(size.counterDataSize);
  PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize, initialize);
  initialize.pRangeProfilerObject = p.range;
  initialize.counterDataSize = p.image.size();
  initialize.pCounterData = p.image.data();
  check(cuptiRangeProfilerCounterDataImageInitialize(&initialize), "range image");
  PARAMS(CUpti_RangeProfiler_SetConfig, set);
  set.pRangeProfilerObject = p.range;
  set.configSize = p.config.size();
  set.pConfig = p.config.data();
  set.counterDataImageSize = p.image.size();
  set.pCounterDataImage = p.image.data();
  set.range = p.mode == "auto_range" ? CUPTI_AutoRange : CUPTI_UserRange;
  set.replayMode = p.mode == "auto_range" ? CUPTI_KernelReplay : CUPTI_UserReplay;
  set.maxRangesPerPass = number("CLIENT_RANGES", 16);
  set.numNestingLevels = 2;
  set.minNestingLevel = 1;
  check(cuptiRangeProfilerSetConfig(&set), "range config");
  PARAMS(CUpti_RangeProfiler_Start, start);
  start.pRangeProfilerObject = p.range;
  check(cuptiRangeProfilerStart(&start), "range start");
}

void push(const char* name) {
  PARAMS(CUpti_RangeProfiler_PushRange, push);
  push.pRangeProfilerObject = profiler().range;
  push.pRangeName = name;
  check(cuptiRangeProfilerPushRange(&push), "push");
}

void pop() {
  PARAMS(CUpti_RangeProfiler_PopRange, pop);
  pop.pRangeProfilerObject = profiler().range;
  check(cuptiRangeProfilerPopRange(&pop), "pop");
}

void write_ranges() {
  Profiler& p = profiler();
  if (p.range == nullptr) return;
  PARAMS(CUpti_RangeProfiler_Stop, stop);
  stop.pRangeProfilerObject = p.range;
  check(cuptiRangeProfilerStop(&stop), "range stop");
  PARAMS(CUpti_RangeProfiler_DecodeData, decode);
  decode.pRangeProfilerObject = p.range;
  check(cuptiRangeProfilerDecodeData(&decode), "range decode");
  PARAMS(CUpti_RangeProfiler_GetCounterDataInfo, info);
  info.pCounterDataImage = p.image.data();
  info.counterDataImageSize = p.image.size();
  check(cuptiRangeProfilerGetCounterDataInfo(&info), "range info");
  write({{"ranges", info.numTotalRanges},
         {"dropped", decode.numOfRangeDropped},
         {"submitted", stop.isAllPassSubmitted}});
  for (std::size_t i = 0; i < info.numTotalRanges; ++i) {
    PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo, range);
    range.pCounterDataImage = p.image.data();
    range.counterDataImageSize = p.image.size();
    range.rangeIndex = i;
    range.rangeDelimiter = "/";
    check(cuptiRangeProfilerCounterDataGetRangeInfo(&range), "range name");
    write({{"range", range.rangeName}, {"values", values_of(i)}});
  }
  PARAMS(CUpti_RangeProfiler_Disable, disable);
  disable.pRangeProfilerObject = p.range;
  check(cuptiRangeProfilerDisable(&disable), "range disable");
}

}  // namespace client
