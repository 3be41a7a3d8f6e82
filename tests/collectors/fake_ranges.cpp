// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "fake_ranges.h"

#include <algorithm>
#include <cstring>

#include "collectors/combine.h"

namespace warpmeter {
namespace {

FakeRanges* device = nullptr;

struct Host {
  std::vector<std::string> names;
};

Host* host(void* object) { return static_cast<Host*>(object); }

CUptiResult call(const char* name) {
  const std::lock_guard lock(device->mutex);
  device->log.emplace_back(name);
  const auto found = device->errors.find(name);
  return found == device->errors.end() ? CUPTI_SUCCESS : found->second;
}

std::size_t passes_of(std::size_t counters) {
  return (counters + device->counters_per_pass - 1) / device->counters_per_pass;
}

// Image of a configuration: names, each ended by a newline.
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

std::vector<std::string> split(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> names;
  std::string name;
  for (std::size_t i = 0; i < size; ++i) {
    if (data[i] != '\n') {
      name += static_cast<char>(data[i]);
      continue;
    }
    names.push_back(name);
    name.clear();
  }
  return names;
}

void bind_host(CuptiApi& api) {
  api.cuptiProfilerHostInitialize = [](CUpti_Profiler_Host_Initialize_Params* p) {
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostDeinitialize = [](CUpti_Profiler_Host_Deinitialize_Params* p) {
    delete host(p->pHostObject);
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostConfigAddMetrics = [](CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
    host(p->pHostObject)->names.assign(p->ppMetricNames, p->ppMetricNames + p->numMetrics);
    return device->errors.count("AddMetrics") ? device->errors["AddMetrics"] : CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetConfigImageSize = [](CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    p->configImageSize = joined(host(p->pHostObject)->names).size();
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetConfigImage = [](CUpti_Profiler_Host_GetConfigImage_Params* p) {
    const std::string text = joined(host(p->pHostObject)->names);
    std::memcpy(p->pConfigImage, text.data(), text.size());
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetNumOfPasses = [](CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    p->numOfPasses =
        device->no_passes ? 0 : passes_of(split(p->pConfigImage, p->configImageSize).size());
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostEvaluateToGpuValues = [](CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
    const auto& names = host(p->pHostObject)->names;
    for (std::size_t i = 0; i < p->numMetrics; ++i) {
      const auto at = std::find(names.begin(), names.end(), p->ppMetricNames[i]);
      std::memcpy(
          &p->pMetricValues[i],
          p->pCounterDataImage + sizeof(double) * static_cast<std::size_t>(at - names.begin()),
          sizeof(double));
    }
    return CUPTI_SUCCESS;
  };
}

void bind_image(CuptiApi& api) {
  api.cuptiRangeProfilerGetCounterDataSize = [](CUpti_RangeProfiler_GetCounterDataSize_Params* p) {
    p->counterDataSize = sizeof(double) * p->numMetrics;
    return CUPTI_SUCCESS;
  };
  api.cuptiRangeProfilerCounterDataImageInitialize =
      [](CUpti_RangeProfiler_CounterDataImage_Initialize_Params*) { return CUPTI_SUCCESS; };
  api.cuptiRangeProfilerDecodeData = [](CUpti_RangeProfiler_DecodeData_Params* p) {
    p->numOfRangeDropped = 0;
    std::memcpy(device->image, device->values.data(), sizeof(double) * device->values.size());
    return call("Decode");
  };
  api.cuptiRangeProfilerGetCounterDataInfo = [](CUpti_RangeProfiler_GetCounterDataInfo_Params* p) {
    p->numTotalRanges = device->ranges;
    return CUPTI_SUCCESS;
  };
}

}  // namespace

void FakeRanges::launch(const std::string& name) {
  const std::lock_guard lock(mutex);
  log.push_back("launch " + name);
  std::normal_distribution<double> normal;
  const auto draw = [&](const std::string& counter) {
    const double by = counter == cycles_counter         ? cycles_noise
                      : counter == instructions_counter ? 0
                                                        : noise;
    return kernels.at(name).at(counter) * (1 + by * normal(random));
  };
  for (std::size_t i = 0; started && pushed && i < configured.size(); ++i)
    if (i / counters_per_pass == pass) values[i] += draw(configured[i]);
}

void FakeRanges::release() {
  const std::lock_guard lock(mutex);
  hang = false;
  changed.notify_all();
}

CuptiApi FakeRanges::api() {
  device = this;
  CuptiApi api;
  bind_host(api);
  bind_image(api);
  api.cuptiProfilerDeInitialize = [](CUpti_Profiler_DeInitialize_Params*) { return CUPTI_SUCCESS; };
  api.cuptiProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    return call("Initialize");
  };
  api.cuptiProfilerGetCounterAvailability = [](CUpti_Profiler_GetCounterAvailability_Params* p) {
    p->counterAvailabilityImageSize = 16;
    return call("Availability");
  };
  api.cuptiRangeProfilerEnable = [](CUpti_RangeProfiler_Enable_Params* p) {
    p->pRangeProfilerObject = reinterpret_cast<CUpti_RangeProfiler_Object*>(device);
    return call("Enable");
  };
  api.cuptiRangeProfilerDisable = [](CUpti_RangeProfiler_Disable_Params*) {
    return call("Disable");
  };
  api.cuptiRangeProfilerSetConfig = [](CUpti_RangeProfiler_SetConfig_Params* p) {
    device->configured = split(p->pConfig, p->configSize);
    device->values.assign(device->configured.size(), 0);
    device->image = p->pCounterDataImage;
    device->pass = device->ranges = 0;
    return p->range == CUPTI_UserRange && p->replayMode == CUPTI_UserReplay
               ? call("SetConfig")
               : CUPTI_ERROR_INVALID_PARAMETER;
  };
  api.cuptiRangeProfilerStart = [](CUpti_RangeProfiler_Start_Params*) {
    device->started = true;
    return call("Start");
  };
  api.cuptiRangeProfilerPushRange = [](CUpti_RangeProfiler_PushRange_Params*) {
    device->pushed = true;
    device->ranges = 1;
    return call("Push");
  };
  api.cuptiRangeProfilerPopRange = [](CUpti_RangeProfiler_PopRange_Params*) {
    std::unique_lock lock(device->mutex);
    device->hanging = device->hang;
    device->changed.wait(lock, [] { return !device->hang; });
    device->hanging = device->pushed = false;
    lock.unlock();
    return call("Pop");
  };
  api.cuptiRangeProfilerStop = [](CUpti_RangeProfiler_Stop_Params* p) {
    device->started = false;
    p->isAllPassSubmitted = ++device->pass >= passes_of(device->configured.size());
    return call("Stop");
  };
  return api;
}

const Catalogue& small_catalogue() {
  static const Catalogue catalogue = Catalogue::read(
      Json::parse(R"({"schema": "warpmeter.metric_catalogue/1", "source": "planted", "metrics": [
  {"id": "a", "unit": "1", "scope": "context", "means": "a", "names": ["sm__A.sum"], "sets": []},
  {"id": "b", "unit": "1", "scope": "context", "means": "b", "names": ["sm__B.sum"], "sets": []},
  {"id": "c", "unit": "s", "scale": 1e-9, "scope": "context", "means": "c",
   "names": ["sm__C.sum"], "sets": []},
  {"id": "d", "unit": "B", "scope": "context", "means": "d", "names": ["dram__D.sum"], "sets": []},
  {"id": "ratio", "unit": "1", "means": "a / b", "formula": "a / b", "sets": []},
  {"id": "same", "unit": "1", "means": "a / d", "formula": "a / d", "sets": []}]})"),
      "planted");
  return catalogue;
}

CounterPlan small_plan(std::vector<std::vector<std::string>> groups) {
  CounterPlan plan;
  for (const LogicalMetric& metric : small_catalogue().metrics())
    plan.metrics.push_back({&metric, metric.names.empty() ? "" : metric.names.front(), ""});
  plan.groups = std::move(groups);
  return plan;
}

}  // namespace warpmeter
