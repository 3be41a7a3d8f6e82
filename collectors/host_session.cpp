// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/host_session.h"

#include "collectors/cupti_api.h"
#include "collectors/cupti_params.h"

namespace warpmeter {
namespace {

bool failed(CounterConfig& out, const char* call, CUptiResult result) {
  out.error = result;
  if (result != CUPTI_SUCCESS) out.call = call;
  return result != CUPTI_SUCCESS;
}

}  // namespace

CUpti_ProfilerType cupti_type(Profiler profiler) {
  return profiler == Profiler::range ? CUPTI_PROFILER_TYPE_RANGE_PROFILER
                                     : CUPTI_PROFILER_TYPE_PM_SAMPLING;
}

HostFunctions host_functions(const CuptiApi& api) {
  return {api.cuptiProfilerHostInitialize,         api.cuptiProfilerHostDeinitialize,
          api.cuptiProfilerHostConfigAddMetrics,   api.cuptiProfilerHostGetConfigImageSize,
          api.cuptiProfilerHostGetConfigImage,     api.cuptiProfilerHostGetNumOfPasses,
          api.cuptiProfilerHostEvaluateToGpuValues};
}

HostSession::HostSession(const HostFunctions& functions, const std::string& chip, Profiler profiler,
                         std::span<const std::uint8_t> availability)
    : f_(functions) {
  auto p = sized<CUpti_Profiler_Host_Initialize_Params>(
      CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  p.profilerType = cupti_type(profiler);
  p.pChipName = chip.c_str();
  p.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  error_ = f_.initialize(&p);
  if (error_ == CUPTI_SUCCESS) object_ = p.pHostObject;
}

HostSession::~HostSession() {
  if (object_ == nullptr) return;
  auto p = sized<CUpti_Profiler_Host_Deinitialize_Params>(
      CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  p.pHostObject = object_;
  (void)f_.deinitialize(&p);
}

CounterConfig HostSession::configure(const std::vector<std::string>& names) const {
  CounterConfig out;
  std::vector<const char*> pointers = pointers_to(names);
  auto add = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = object_;
  add.ppMetricNames = pointers.data();
  add.numMetrics = pointers.size();
  if (failed(out, "ConfigAddMetrics", f_.add_metrics(&add))) return out;
  auto size = sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = object_;
  if (failed(out, "GetConfigImageSize", f_.image_size(&size))) return out;
  std::vector<std::uint8_t> bytes(size.configImageSize);
  auto image = sized<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = object_;
  image.configImageSize = bytes.size();
  image.pConfigImage = bytes.data();
  if (failed(out, "GetConfigImage", f_.image(&image))) return out;
  auto passes = sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.configImageSize = bytes.size();
  passes.pConfigImage = bytes.data();
  if (failed(out, "GetNumOfPasses", f_.passes(&passes))) return out;
  out.passes = passes.numOfPasses;
  out.image = std::move(bytes);
  return out;
}

int HostSession::evaluate(std::span<const std::uint8_t> counter_data, std::size_t index,
                          const std::vector<std::string>& names,
                          std::vector<double>& values) const {
  std::vector<const char*> pointers = pointers_to(names);
  values.assign(names.size(), 0);
  auto p = sized<CUpti_Profiler_Host_EvaluateToGpuValues_Params>(
      CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  p.pHostObject = object_;
  p.pCounterDataImage = counter_data.data();
  p.counterDataImageSize = counter_data.size();
  p.rangeIndex = index;
  p.ppMetricNames = pointers.data();
  p.numMetrics = pointers.size();
  p.pMetricValues = values.data();
  return f_.evaluate(&p);
}

}  // namespace warpmeter
