// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// PM sampling, from the context's begin to the process's end.
#include "tests/emulator/driver/client_profile.h"

namespace client {

namespace {

void initialize_samples() {
  PARAMS(CUpti_PmSampling_CounterDataImage_Initialize, initialize);
  initialize.pPmSamplingObject = profiler().pm;
  initialize.counterDataSize = profiler().image.size();
  initialize.pCounterData = profiler().image.data();
  check(cuptiPmSamplingCounterDataImageInitialize(&initialize), "image");
}

}  // namespace

void start_sampling() {
  Profiler& p = profiler();
  if (!plan(CUPTI_PROFILER_TYPE_PM_SAMPLING)) return;
  PARAMS(CUpti_PmSampling_Enable, enable);
  if (check(cuptiPmSamplingEnable(&enable), "pm enable") != CUPTI_SUCCESS) return;
  p.pm = enable.pPmSamplingObject;
  PARAMS(CUpti_PmSampling_Enable, again);
  write({{"second", static_cast<int>(cuptiPmSamplingEnable(&again))}});
  PARAMS(CUpti_PmSampling_SetConfig, set);
  set.pPmSamplingObject = p.pm;
  set.configSize = p.config.size();
  set.pConfig = p.config.data();
  set.hardwareBufferSize = number("CLIENT_HARDWARE", 64 << 20);
  set.samplingInterval = number("CLIENT_INTERVAL", 500);
  set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  check(cuptiPmSamplingSetConfig(&set), "pm config");
  PARAMS(CUpti_PmSampling_GetCounterDataSize, size);
  size.pPmSamplingObject = p.pm;
  size.pMetricNames = p.names.data();
  size.numMetrics = p.names.size();
  size.maxSamples = static_cast<std::uint32_t>(number("CLIENT_SAMPLES", 64));
  check(cuptiPmSamplingGetCounterDataSize(&size), "pm size");
  p.image.resize(size.counterDataSize);
  initialize_samples();
  PARAMS(CUpti_PmSampling_Start, start);
  start.pPmSamplingObject = p.pm;
  check(cuptiPmSamplingStart(&start), "pm start");
}

void write_samples() {
  Profiler& p = profiler();
  if (p.pm == nullptr) return;
  PARAMS(CUpti_PmSampling_Stop, stop);
  stop.pPmSamplingObject = p.pm;
  check(cuptiPmSamplingStop(&stop), "pm stop");
  for (bool more = true; more;) {
    PARAMS(CUpti_PmSampling_DecodeData, decode);
    decode.pPmSamplingObject = p.pm;
    decode.pCounterDataImage = p.image.data();
    decode.counterDataImageSize = p.image.size();
    check(cuptiPmSamplingDecodeData(&decode), "pm decode");
    more = decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
    PARAMS(CUpti_PmSampling_GetCounterDataInfo, info);
    info.pCounterDataImage = p.image.data();
    info.counterDataImageSize = p.image.size();
    check(cuptiPmSamplingGetCounterDataInfo(&info), "pm info");
    write({{"decoded", info.numCompletedSamples}, {"full", more}, {"overflow", decode.overflow}});
    for (std::size_t i = 0; i < info.numCompletedSamples; ++i) {
      PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo, sample);
      sample.pPmSamplingObject = p.pm;
      sample.pCounterDataImage = p.image.data();
      sample.counterDataImageSize = p.image.size();
      sample.sampleIndex = i;
      check(cuptiPmSamplingCounterDataGetSampleInfo(&sample), "pm sample");
      write({{"sample", i},
             {"start", sample.startTimestamp},
             {"end", sample.endTimestamp},
             {"values", values_of(i)}});
    }
    initialize_samples();
  }
  PARAMS(CUpti_PmSampling_Disable, disable);
  disable.pPmSamplingObject = p.pm;
  check(cuptiPmSamplingDisable(&disable), "pm disable");
}

}  // namespace client
