// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/range_counters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "collectors/cupti_error.h"
#include "collectors/cupti_params.h"
#include "core/error.h"

namespace warpmeter {
namespace {

void check(CUptiResult result, const char* call) { check_cupti(result, "range", call); }

std::vector<std::uint8_t> counter_availability(const CuptiApi& api, CUcontext context) {
  auto p = sized<CUpti_Profiler_GetCounterAvailability_Params>(
      CUpti_Profiler_GetCounterAvailability_Params_STRUCT_SIZE);
  p.ctx = context;
  check(api.cuptiProfilerGetCounterAvailability(&p), "cuptiProfilerGetCounterAvailability");
  std::vector<std::uint8_t> image(p.counterAvailabilityImageSize);
  p.pCounterAvailabilityImage = image.data();
  check(api.cuptiProfilerGetCounterAvailability(&p), "cuptiProfilerGetCounterAvailability");
  image.resize(p.counterAvailabilityImageSize);
  return image;
}

std::optional<std::size_t> index_of(const std::vector<std::string>& names, const char* name) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return std::nullopt;
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

RangeProfiler::RangeProfiler(const CuptiApi& api, CUcontext context, const std::string& chip)
    : api_(api), use_(api, "range"), context_(context), chip_(chip) {
  availability_ = counter_availability(api_, context_);
  auto p = sized<CUpti_RangeProfiler_Enable_Params>(CUpti_RangeProfiler_Enable_Params_STRUCT_SIZE);
  p.ctx = context_;
  check(api_.cuptiRangeProfilerEnable(&p), "cuptiRangeProfilerEnable");
  object_ = p.pRangeProfilerObject;
}

RangeProfiler::~RangeProfiler() {
  auto p =
      sized<CUpti_RangeProfiler_Disable_Params>(CUpti_RangeProfiler_Disable_Params_STRUCT_SIZE);
  p.pRangeProfilerObject = object_;
  (void)api_.cuptiRangeProfilerDisable(&p);
}

CounterGroup RangeProfiler::make_group(const std::vector<std::string>& names) const {
  CounterGroup group;
  const auto attempt = [&](const std::vector<const char*>& more) {
    std::vector<std::string> all = names;
    for (const char* name : more)
      if (!index_of(all, name)) all.push_back(name);
    auto host =
        std::make_shared<HostSession>(host_functions(api_), chip_, Profiler::range, availability_);
    check(static_cast<CUptiResult>(host->error()), "cuptiProfilerHostInitialize");
    CounterConfig config = host->configure(all);
    const bool first = group.host == nullptr;
    if (!first && (config.error != 0 || config.passes != group.config.passes)) return false;
    group.names = std::move(all);
    group.config = std::move(config);
    group.host = std::move(host);
    return true;
  };
  attempt({});
  if (group.config.error != 0)
    throw InputError(fmt::format("range: {} of {}: {}", group.config.call, fmt::join(names, " "),
                                 describe_cupti_error(group.config.error)));
  if (group.config.passes < 1)
    throw InputError(fmt::format(
        "range: CUPTI plans no pass for {}: it is not the version that warpmeter was built with; "
        "use the CUPTI of CUDA 13.0",
        fmt::join(names, " ")));
  group.planned = names.size();
  if (!attempt({cycles_counter, instructions_counter}) && !attempt({instructions_counter}))
    attempt({cycles_counter});
  group.cycles = index_of(group.names, cycles_counter);
  group.instructions = index_of(group.names, instructions_counter);
  return group;
}

void RangeProfiler::configure(CounterGroup& group) {
  std::vector<const char*> names = pointers_to(group.names);
  auto size = sized<CUpti_RangeProfiler_GetCounterDataSize_Params>(
      CUpti_RangeProfiler_GetCounterDataSize_Params_STRUCT_SIZE);
  size.pRangeProfilerObject = object_;
  size.pMetricNames = names.data();
  size.numMetrics = names.size();
  size.maxNumOfRanges = 1;
  size.maxNumRangeTreeNodes = 1;
  check(api_.cuptiRangeProfilerGetCounterDataSize(&size), "cuptiRangeProfilerGetCounterDataSize");
  group.counter_data.assign(size.counterDataSize, 0);
  auto image = sized<CUpti_RangeProfiler_CounterDataImage_Initialize_Params>(
      CUpti_RangeProfiler_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  image.pRangeProfilerObject = object_;
  image.counterDataSize = group.counter_data.size();
  image.pCounterData = group.counter_data.data();
  check(api_.cuptiRangeProfilerCounterDataImageInitialize(&image),
        "cuptiRangeProfilerCounterDataImageInitialize");
  auto p =
      sized<CUpti_RangeProfiler_SetConfig_Params>(CUpti_RangeProfiler_SetConfig_Params_STRUCT_SIZE);
  p.pRangeProfilerObject = object_;
  p.configSize = group.config.image.size();
  p.pConfig = group.config.image.data();
  p.counterDataImageSize = group.counter_data.size();
  p.pCounterDataImage = group.counter_data.data();
  p.range = CUPTI_UserRange;
  p.replayMode = CUPTI_UserReplay;
  p.maxRangesPerPass = 1;
  p.numNestingLevels = 1;
  p.minNestingLevel = 1;
  check(api_.cuptiRangeProfilerSetConfig(&p), "cuptiRangeProfilerSetConfig");
}

void RangeProfiler::start(const std::string& range) {
  auto begin =
      sized<CUpti_RangeProfiler_Start_Params>(CUpti_RangeProfiler_Start_Params_STRUCT_SIZE);
  begin.pRangeProfilerObject = object_;
  check(api_.cuptiRangeProfilerStart(&begin), "cuptiRangeProfilerStart");
  auto push =
      sized<CUpti_RangeProfiler_PushRange_Params>(CUpti_RangeProfiler_PushRange_Params_STRUCT_SIZE);
  push.pRangeProfilerObject = object_;
  push.pRangeName = range.c_str();
  check(api_.cuptiRangeProfilerPushRange(&push), "cuptiRangeProfilerPushRange");
}

bool RangeProfiler::stop() {
  auto pop =
      sized<CUpti_RangeProfiler_PopRange_Params>(CUpti_RangeProfiler_PopRange_Params_STRUCT_SIZE);
  pop.pRangeProfilerObject = object_;
  check(api_.cuptiRangeProfilerPopRange(&pop), "cuptiRangeProfilerPopRange");
  auto p = sized<CUpti_RangeProfiler_Stop_Params>(CUpti_RangeProfiler_Stop_Params_STRUCT_SIZE);
  p.pRangeProfilerObject = object_;
  check(api_.cuptiRangeProfilerStop(&p), "cuptiRangeProfilerStop");
  return p.isAllPassSubmitted != 0;
}

RangeValues RangeProfiler::decode(CounterGroup& group) const {
  auto p = sized<CUpti_RangeProfiler_DecodeData_Params>(
      CUpti_RangeProfiler_DecodeData_Params_STRUCT_SIZE);
  p.pRangeProfilerObject = object_;
  check(api_.cuptiRangeProfilerDecodeData(&p), "cuptiRangeProfilerDecodeData");
  auto info = sized<CUpti_RangeProfiler_GetCounterDataInfo_Params>(
      CUpti_RangeProfiler_GetCounterDataInfo_Params_STRUCT_SIZE);
  info.pCounterDataImage = group.counter_data.data();
  info.counterDataImageSize = group.counter_data.size();
  check(api_.cuptiRangeProfilerGetCounterDataInfo(&info), "cuptiRangeProfilerGetCounterDataInfo");
  if (p.numOfRangeDropped != 0 || info.numTotalRanges != 1)
    throw InputError(
        fmt::format("range: CUPTI has {} ranges of 1 and dropped {}; profile fewer "
                    "metrics at a time",
                    info.numTotalRanges, p.numOfRangeDropped));
  std::vector<double> values;
  check(static_cast<CUptiResult>(group.host->evaluate(group.counter_data, 0, group.names, values)),
        "cuptiProfilerHostEvaluateToGpuValues");
  RangeValues out;
  if (group.cycles) out.invariants.cycles = values[*group.cycles];
  if (group.instructions) out.invariants.instructions = values[*group.instructions];
  values.resize(group.planned);
  out.planned = std::move(values);
  return out;
}

std::vector<MetricValue> RangeProfiler::replay(const CounterPlan& plan, const ReplayWork& work,
                                               int repeats) {
  PassSamples samples(plan);
  std::vector<CounterGroup> groups;
  for (const auto& names : plan.groups) groups.push_back(make_group(names));
  for (int repeat = 0; repeat < repeats; ++repeat) {
    for (std::size_t g = 0; g < groups.size(); ++g) {
      configure(groups[g]);
      bool all = false;
      for (std::size_t pass = 0; !all; ++pass) {
        if (pass == groups[g].config.passes)
          throw InputError(
              fmt::format("range: CUPTI planned {} passes and asks for more; use the "
                          "CUPTI of CUDA 13.0",
                          pass));
        work.reinitialize();
        work.flush_l2();
        work.synchronize();
        start("replay");
        work.launch();
        work.synchronize();
        all = stop();
      }
      RangeValues values = decode(groups[g]);
      samples.groups[g].push_back(std::move(values.planned));
      samples.invariants.push_back(values.invariants);
    }
  }
  return combine(plan, samples);
}

}  // namespace warpmeter
