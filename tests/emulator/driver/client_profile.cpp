// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Counters: what sampling and ranges share.
#include "tests/emulator/driver/client_profile.h"

#include <cupti_target.h>

#include <cstdlib>

namespace client {

Profiler& profiler() {
  static auto* const instance = [] {
    auto* made = new Profiler();
    made->names = {"gpu__time_duration.sum",
                   "sm__cycles_elapsed.max",
                   "sm__cycles_elapsed.avg.per_second",
                   "sm__inst_executed.sum",
                   "sm__ctas_launched.sum",
                   "lts__t_sectors.sum",
                   "lts__t_sectors_op_read.sum",
                   "lts__t_sectors_op_write.sum",
                   "lts__t_sectors_lookup_hit.sum",
                   "dram__bytes_read.sum",
                   "dram__bytes_write.sum",
                   "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"};
    return made;
  }();
  return *instance;
}

std::size_t number(const char* name, std::size_t otherwise) {
  const std::string text = variable(name);
  return text.empty() ? otherwise : static_cast<std::size_t>(std::atoll(text.c_str()));
}

bool plan(CUpti_ProfilerType type) {
  Profiler& p = profiler();
  PARAMS(CUpti_Device_GetChipName, chip);
  check(cuptiDeviceGetChipName(&chip), "chip");
  write({{"chip", chip.pChipName}});
  PARAMS(CUpti_Profiler_Host_Initialize, host);
  host.profilerType = type;
  host.pChipName = chip.pChipName;
  if (check(cuptiProfilerHostInitialize(&host), "host") != CUPTI_SUCCESS) return false;
  p.host = host.pHostObject;
  for (const char* wrong : {"sm__inst_executed", "no__such_metric.sum", "sm__inst_executed.avg"}) {
    PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
    add.pHostObject = p.host;
    add.ppMetricNames = &wrong;
    add.numMetrics = 1;
    write(
        {{"wrong", wrong}, {"refused", static_cast<int>(cuptiProfilerHostConfigAddMetrics(&add))}});
  }
  PARAMS(CUpti_Profiler_Host_ConfigAddMetrics, add);
  add.pHostObject = p.host;
  add.ppMetricNames = p.names.data();
  add.numMetrics = p.names.size();
  check(cuptiProfilerHostConfigAddMetrics(&add), "add");
  PARAMS(CUpti_Profiler_Host_GetConfigImageSize, size);
  size.pHostObject = p.host;
  check(cuptiProfilerHostGetConfigImageSize(&size), "config size");
  p.config.resize(size.configImageSize);
  PARAMS(CUpti_Profiler_Host_GetConfigImage, image);
  image.pHostObject = p.host;
  image.configImageSize = p.config.size();
  image.pConfigImage = p.config.data();
  check(cuptiProfilerHostGetConfigImage(&image), "config");
  PARAMS(CUpti_Profiler_Host_GetNumOfPasses, passes);
  passes.configImageSize = p.config.size();
  passes.pConfigImage = p.config.data();
  check(cuptiProfilerHostGetNumOfPasses(&passes), "passes");
  write({{"passes", passes.numOfPasses}});
  return true;
}

Json values_of(std::size_t row) {
  Profiler& p = profiler();
  std::vector<double> values(p.names.size());
  PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues, evaluate);
  evaluate.pHostObject = p.host;
  evaluate.pCounterDataImage = p.image.data();
  evaluate.counterDataImageSize = p.image.size();
  evaluate.rangeIndex = row;
  evaluate.ppMetricNames = p.names.data();
  evaluate.numMetrics = p.names.size();
  evaluate.pMetricValues = values.data();
  check(cuptiProfilerHostEvaluateToGpuValues(&evaluate), "evaluate");
  Json json;
  for (std::size_t i = 0; i < p.names.size(); ++i) json[p.names[i]] = values[i];
  return json;
}

namespace {

void on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  Profiler& p = profiler();
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    if (p.mode == "pm") {
      start_sampling();
    } else {
      start_ranges(static_cast<const CUpti_ResourceData*>(data)->context);
    }
  }
  if (domain != CUPTI_CB_DOMAIN_RUNTIME_API || p.mode != "user_range" || p.range == nullptr) return;
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  if (call.symbolName == nullptr) return;
  if (call.callbackSite == CUPTI_API_ENTER) {
    push("launch");
    push(call.symbolName);
  } else {
    pop();
    pop();
  }
}

}  // namespace

void profile(const std::string& mode) {
  profiler().mode = mode;
  PARAMS(CUpti_Profiler_Initialize, initialize);
  check(cuptiProfilerInitialize(&initialize), "profiler");
  CUpti_SubscriberHandle subscriber = nullptr;
  check(cuptiSubscribe(&subscriber, on_callback, nullptr), "subscribe");
  check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE), "domain");
  check(cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API), "domain");
  std::atexit([] {
    if (profiler().mode == "pm") {
      write_samples();
    } else {
      write_ranges();
    }
    PARAMS(CUpti_Profiler_DeInitialize, end);
    check(cuptiProfilerDeInitialize(&end), "profiler end");
  });
}

}  // namespace client
