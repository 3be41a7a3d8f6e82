// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// PM sampling: intervals of virtual time, over which each kernel's counts are spread evenly.
#include <cupti_pmsampling.h>

#include <algorithm>
#include <deque>

#include "emulator/driver/cupti_counting.h"
#include "emulator/driver/cupti_metrics.h"
#include "emulator/driver/cupti_records.h"

using emulator::runtime;

namespace emulator {
namespace {

struct Span {  // of a kernel
  std::uint64_t begin_ns;
  std::uint64_t end_ns;
  Counts counts;
};

// Bytes of the hardware buffer that a sample takes.
constexpr std::size_t sample_bytes = 1024;

std::mutex& mutex() {  // of all sessions; the engine's lock may be held when it is taken
  static auto* const instance = new std::mutex();
  return *instance;
}

}  // namespace
}  // namespace emulator

struct CUpti_PmSampling_Object {
  int device = 0;
  double interval_ns = 0;  // 0: not configured
  std::size_t capacity = 0;
  bool keeps_latest = false;
  bool running = false;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = UINT64_MAX;  // when stopped
  std::uint64_t next = 0;             // sample to decode
  // Samples that did not fit into the buffer.
  std::uint64_t gap_begin = 0;
  std::uint64_t gap_end = 0;
  std::deque<emulator::Span> spans;

  std::uint64_t time_of(std::uint64_t sample) const {
    return begin_ns + static_cast<std::uint64_t>(static_cast<double>(sample) * interval_ns);
  }
  emulator::Row sample(std::uint64_t index) const {
    emulator::Row row;
    row.begin_ns = time_of(index);
    row.end_ns = time_of(index + 1);
    for (const emulator::Span& span : spans) {
      const std::uint64_t begin = std::max(span.begin_ns, row.begin_ns);
      const std::uint64_t end = std::min(span.end_ns, row.end_ns);
      if (begin >= end) continue;
      row.counts.add(span.counts, static_cast<double>(end - begin) /
                                      static_cast<double>(span.end_ns - span.begin_ns));
    }
    row.counts[emulator::Raw::time_ns] = static_cast<double>(row.end_ns - row.begin_ns);
    row.begin_ns = emulator::client_ns(row.begin_ns);
    row.end_ns = emulator::client_ns(row.end_ns);
    return row;
  }
};

namespace emulator {
namespace {

std::vector<CUpti_PmSampling_Object*>& sessions() {
  static auto* const all = new std::vector<CUpti_PmSampling_Object*>();
  return *all;
}

bool known(const CUpti_PmSampling_Object* object) {
  return std::find(sessions().begin(), sessions().end(), object) != sessions().end();
}

// Moves samples up to `until` to the image. The lock is held.
void decode(CUpti_PmSampling_Object& pm, std::uint64_t until,
            CUpti_PmSampling_DecodeData_Params& params, RowImage& image) {
  const std::uint64_t time = std::min(until, pm.end_ns);
  const std::uint64_t total =
      time <= pm.begin_ns
          ? 0
          : static_cast<std::uint64_t>(static_cast<double>(time - pm.begin_ns) / pm.interval_ns);
  if (total > pm.next + pm.capacity) {
    if (pm.keeps_latest) {
      pm.next = total - pm.capacity;
    } else {
      if (pm.gap_end <= pm.next) pm.gap_begin = pm.next + pm.capacity;
      pm.gap_end = total;
      params.overflow = 1;
    }
  }
  while (pm.next < total) {
    if (pm.next >= pm.gap_begin && pm.next < pm.gap_end) {
      pm.next = pm.gap_end;
      continue;
    }
    const std::uint64_t begin = pm.time_of(pm.next);
    std::erase_if(pm.spans, [begin](const Span& span) { return span.end_ns <= begin; });
    if (!image.append(pm.sample(pm.next))) {
      params.decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
      return;
    }
    ++pm.next;
  }
}

}  // namespace

void count_in_samples(const Work& work) {
  if (work.kind != Work::Kind::kernel) return;
  const std::lock_guard lock(mutex());
  for (CUpti_PmSampling_Object* pm : sessions()) {
    if (pm->device != work.device || !pm->running) continue;
    pm->spans.push_back({work.begin_ns, std::max(work.end_ns, work.begin_ns + 1), counts_of(work)});
  }
}

}  // namespace emulator

using emulator::known;
using emulator::mutex;

extern "C" {

CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_Enable);
  EMULATOR_CUPTI_READY();
  if (params->deviceIndex >= static_cast<std::size_t>(runtime().chip().devices)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (!emulator::profiler_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (emulator::faults().number("pm") != 0) return emulator::faults().error("pm");
  const int device = static_cast<int>(params->deviceIndex);
  {
    const std::lock_guard lock(mutex());
    for (const CUpti_PmSampling_Object* other : emulator::sessions()) {
      if (other->device == device) return CUPTI_ERROR_INVALID_OPERATION;
    }
    emulator::sessions().push_back(new CUpti_PmSampling_Object());
    params->pPmSamplingObject = emulator::sessions().back();
    params->pPmSamplingObject->device = device;
  }
  emulator::change_sessions(1);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_Disable);
  {
    const std::lock_guard lock(mutex());
    if (!known(params->pPmSamplingObject)) return CUPTI_ERROR_INVALID_PARAMETER;
    std::erase(emulator::sessions(), params->pPmSamplingObject);
    delete params->pPmSamplingObject;
  }
  emulator::change_sessions(-1);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_SetConfig);
  const int count = emulator::metrics_in_config(params->pConfig, params->configSize);
  const std::lock_guard lock(mutex());
  CUpti_PmSampling_Object* const pm = params->pPmSamplingObject;
  if (!known(pm) || count < 0 || params->samplingInterval == 0 || params->triggerMode < 0 ||
      params->triggerMode >= CUPTI_PM_SAMPLING_TRIGGER_MODE_COUNT) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (pm->running) return CUPTI_ERROR_INVALID_OPERATION;
  if (emulator::passes_of(count) > 1) return CUPTI_ERROR_NOT_SUPPORTED;
  const bool clocks = params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
  pm->interval_ns =
      static_cast<double>(params->samplingInterval) * (clocks ? 1e9 / runtime().chip().sm_hz : 1.0);
  pm->capacity = std::max<std::size_t>(1, params->hardwareBufferSize / emulator::sample_bytes);
  pm->keeps_latest =
      params->hwBufferAppendMode == CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_Start);
  const std::uint64_t now = runtime().now_ns(false);
  const std::lock_guard lock(mutex());
  CUpti_PmSampling_Object* const pm = params->pPmSamplingObject;
  if (!known(pm)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (pm->running || pm->interval_ns == 0) return CUPTI_ERROR_INVALID_OPERATION;
  pm->running = true;
  pm->begin_ns = now;
  pm->end_ns = UINT64_MAX;
  pm->next = pm->gap_begin = pm->gap_end = 0;
  pm->spans.clear();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_Stop);
  const std::uint64_t now = runtime().now_ns(false);
  const std::lock_guard lock(mutex());
  CUpti_PmSampling_Object* const pm = params->pPmSamplingObject;
  if (!known(pm)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!pm->running) return CUPTI_ERROR_INVALID_OPERATION;
  pm->running = false;
  pm->end_ns = now;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_DecodeData);
  emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid()) return CUPTI_ERROR_INVALID_PARAMETER;
  int device = 0;
  {
    const std::lock_guard lock(mutex());
    if (!known(params->pPmSamplingObject)) return CUPTI_ERROR_INVALID_PARAMETER;
    device = params->pPmSamplingObject->device;
  }
  const std::uint64_t until = runtime().settle(device);  // takes the engine's lock
  const std::lock_guard lock(mutex());
  if (!known(params->pPmSamplingObject)) return CUPTI_ERROR_INVALID_PARAMETER;
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  params->overflow = 0;
  emulator::decode(*params->pPmSamplingObject, until, *params, image);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_GetCounterDataSize);
  params->counterDataSize = emulator::RowImage::bytes_for(params->maxSamples);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize);
  return emulator::RowImage::initialize(params->pCounterData, params->counterDataSize)
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_GetCounterDataInfo);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalSamples = image.capacity();
  params->numPopulatedSamples = params->numCompletedSamples = image.count();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiPmSamplingCounterDataGetSampleInfo(
    CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  const emulator::Row* const row = image.valid() ? image.row(params->sampleIndex) : nullptr;
  if (row == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->startTimestamp = row->begin_ns;
  params->endTimestamp = row->end_ns;
  return CUPTI_SUCCESS;
}

}  // extern "C"
