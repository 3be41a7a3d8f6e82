// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The range profiler, one pass: counts of the kernels in a range.
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>

#include "emulator/driver/cupti_counting.h"
#include "emulator/driver/cupti_metrics.h"

using emulator::runtime;

// A range that is open, or has ended.
struct EmulatedRange {
  std::string name;  // levels, separated by newlines
  emulator::Counts counts;
  std::uint64_t begin_ns = UINT64_MAX;  // of its first kernel
  std::uint64_t end_ns = 0;             // of its last

  void add(const emulator::Work& work, const emulator::Counts& more) {
    counts.add(more, 1);
    begin_ns = std::min(begin_ns, work.begin_ns);
    end_ns = std::max(end_ns, work.end_ns);
  }
};

struct CUpti_RangeProfiler_Object {
  int device = 0;
  bool automatic = false;
  bool configured = false;
  bool running = false;
  std::size_t most_ranges = 0;
  std::size_t first_level = 1;
  std::size_t levels = 1;
  emulator::RowImage image{nullptr, 0};
  std::vector<EmulatedRange> open;
  std::deque<EmulatedRange> ended;
  std::size_t dropped = 0;

  void end(EmulatedRange range) {
    if (ended.size() >= most_ranges) {
      ++dropped;
    } else {
      ended.push_back(std::move(range));
    }
  }
};

namespace emulator {
namespace {

std::mutex& mutex() {  // of all sessions; the engine's lock may be held when it is taken
  static auto* const instance = new std::mutex();
  return *instance;
}

std::vector<CUpti_RangeProfiler_Object*>& sessions() {
  static auto* const all = new std::vector<CUpti_RangeProfiler_Object*>();
  return *all;
}

// Calls `body` with a session that is known, with the lock held; before that, if `wait`, all work
// of its device ends.
template <typename Body>
CUptiResult with(CUpti_RangeProfiler_Object* object, bool wait, Body body) {
  int device = -1;
  {
    const std::lock_guard lock(mutex());
    const auto found = std::find(sessions().begin(), sessions().end(), object);
    if (found == sessions().end()) return CUPTI_ERROR_INVALID_PARAMETER;
    device = object->device;
  }
  if (wait) runtime().synchronize(device);
  const std::lock_guard lock(mutex());
  return body(*object);
}

Row row_of(const EmulatedRange& range) {
  Row row;
  row.counts = range.counts;
  if (range.end_ns != 0) {
    row.begin_ns = range.begin_ns;
    row.end_ns = range.end_ns;
    row.counts[Raw::time_ns] = static_cast<double>(range.end_ns - range.begin_ns);
  }
  std::strncpy(row.name, range.name.c_str(), sizeof row.name - 1);
  return row;
}

}  // namespace

void count_in_ranges(const Work& work) {
  if (work.kind != Work::Kind::kernel) return;
  const std::lock_guard lock(mutex());
  for (CUpti_RangeProfiler_Object* range : sessions()) {
    if (range->device != work.device || !range->running) continue;
    const Counts counts = counts_of(work);
    if (range->automatic) {
      EmulatedRange kernel;
      kernel.name = std::to_string(range->ended.size() + range->dropped);
      kernel.add(work, counts);
      range->end(std::move(kernel));
    }
    for (EmulatedRange& open : range->open) open.add(work, counts);
  }
}

void serialize(const ApiSite& site) {
  const bool launches =
      site.kernel != nullptr || std::string_view(site.function).starts_with("cudaGraphLaunch");
  if (!launches || site.context == nullptr) return;
  {
    const std::lock_guard lock(mutex());
    const int device = site.context->device;
    const auto& all = sessions();
    if (std::none_of(all.begin(), all.end(), [device](const CUpti_RangeProfiler_Object* range) {
          return range->device == device && range->running && range->automatic;
        })) {
      return;
    }
  }
  runtime().synchronize(site.context->device);
}

}  // namespace emulator

using emulator::with;

extern "C" {

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_Enable);
  EMULATOR_CUPTI_READY();
  if (!emulator::profiler_initialized()) return CUPTI_ERROR_NOT_INITIALIZED;
  if (emulator::faults().number("range") != 0) return emulator::faults().error("range");
  const emulator::Context* const context =
      params->ctx == nullptr ? runtime().current() : emulator::context_of(params->ctx);
  if (context == nullptr) return CUPTI_ERROR_INVALID_CONTEXT;
  {
    const std::lock_guard lock(emulator::mutex());
    for (const CUpti_RangeProfiler_Object* other : emulator::sessions()) {
      if (other->device == context->device) return CUPTI_ERROR_INVALID_OPERATION;
    }
    emulator::sessions().push_back(new CUpti_RangeProfiler_Object());
    params->pRangeProfilerObject = emulator::sessions().back();
    params->pRangeProfilerObject->device = context->device;
  }
  emulator::change_sessions(1);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_Disable);
  const CUptiResult result =
      with(params->pRangeProfilerObject, true, [](CUpti_RangeProfiler_Object& range) {
        std::erase(emulator::sessions(), &range);
        delete &range;
        return CUPTI_SUCCESS;
      });
  if (result == CUPTI_SUCCESS) emulator::change_sessions(-1);
  return result;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_SetConfig);
  const int count = emulator::metrics_in_config(params->pConfig, params->configSize);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  const bool automatic = params->range == CUPTI_AutoRange;
  const bool modes = (automatic || params->range == CUPTI_UserRange) &&
                     params->replayMode > CUPTI_Replay_INVALID &&
                     params->replayMode < CUPTI_Replay_COUNT &&
                     automatic == (params->replayMode == CUPTI_KernelReplay);
  if (count < 0 || !image.valid() || !modes || params->maxRangesPerPass == 0 ||
      params->numNestingLevels == 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (emulator::passes_of(count) > 1) return CUPTI_ERROR_NOT_SUPPORTED;
  return with(params->pRangeProfilerObject, false, [&](CUpti_RangeProfiler_Object& range) {
    if (range.running) return CUPTI_ERROR_INVALID_OPERATION;
    range.automatic = automatic;
    range.most_ranges = params->maxRangesPerPass;
    range.levels = params->numNestingLevels;
    range.first_level = std::max<std::size_t>(1, params->minNestingLevel);
    range.image = image;
    range.configured = true;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_Start);
  return with(params->pRangeProfilerObject, true, [](CUpti_RangeProfiler_Object& range) {
    if (!range.configured || range.running) return CUPTI_ERROR_INVALID_OPERATION;
    range.running = true;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_Stop);
  return with(params->pRangeProfilerObject, true, [params](CUpti_RangeProfiler_Object& range) {
    if (!range.running || !range.open.empty()) return CUPTI_ERROR_INVALID_OPERATION;
    range.running = false;
    params->passIndex = 0;
    params->targetNestingLevel = range.first_level;
    params->isAllPassSubmitted = 1;
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_PushRange);
  if (params->pRangeName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  return with(params->pRangeProfilerObject, true, [params](CUpti_RangeProfiler_Object& range) {
    if (!range.running || range.automatic) return CUPTI_ERROR_INVALID_OPERATION;
    EmulatedRange open;
    if (!range.open.empty()) open.name = range.open.back().name + "\n";
    open.name += params->pRangeName;
    range.open.push_back(std::move(open));
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_PopRange);
  return with(params->pRangeProfilerObject, true, [](CUpti_RangeProfiler_Object& range) {
    if (!range.running || range.open.empty()) return CUPTI_ERROR_INVALID_OPERATION;
    const std::size_t level = range.open.size();
    EmulatedRange ended = std::move(range.open.back());
    range.open.pop_back();
    if (level >= range.first_level && level < range.first_level + range.levels) {
      range.end(std::move(ended));
    }
    return CUPTI_SUCCESS;
  });
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_DecodeData);
  return with(params->pRangeProfilerObject, false, [params](CUpti_RangeProfiler_Object& range) {
    if (range.running || !range.configured) return CUPTI_ERROR_INVALID_OPERATION;
    for (const EmulatedRange& ended : range.ended) {
      if (!range.image.append(emulator::row_of(ended))) ++range.dropped;
    }
    range.ended.clear();
    params->numOfRangeDropped = std::exchange(range.dropped, 0);
    return CUPTI_SUCCESS;
  });
}

CUptiResult cuptiRangeProfilerGetCounterDataSize(
    CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_GetCounterDataSize);
  if (params->maxNumRangeTreeNodes < params->maxNumOfRanges) return CUPTI_ERROR_INVALID_PARAMETER;
  params->counterDataSize = emulator::RowImage::bytes_for(params->maxNumOfRanges);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerCounterDataImageInitialize(
    CUpti_RangeProfiler_CounterDataImage_Initialize_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_CounterDataImage_Initialize);
  return emulator::RowImage::initialize(params->pCounterData, params->counterDataSize)
             ? CUPTI_SUCCESS
             : CUPTI_ERROR_INVALID_PARAMETER;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(
    CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_GetCounterDataInfo);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid()) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numTotalRanges = image.count();
  return CUPTI_SUCCESS;
}
// The name lives until the thread asks again.
CUptiResult cuptiRangeProfilerCounterDataGetRangeInfo(
    CUpti_RangeProfiler_CounterData_GetRangeInfo_Params* params) {
  EMULATOR_PARAMS(CUpti_RangeProfiler_CounterData_GetRangeInfo);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  const emulator::Row* const row = image.valid() ? image.row(params->rangeIndex) : nullptr;
  if (row == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  static thread_local std::string name;
  name =
      emulator::range_name(*row, params->rangeDelimiter == nullptr ? "/" : params->rangeDelimiter);
  params->rangeName = name.c_str();
  return CUPTI_SUCCESS;
}

}  // extern "C"
