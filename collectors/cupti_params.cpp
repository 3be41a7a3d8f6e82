// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/cupti_params.h"

namespace warpmeter {
namespace {

bool failed(CounterConfig& out, const char* call, CUptiResult result) {
  out.error = result;
  if (result != CUPTI_SUCCESS) out.call = call;
  return result != CUPTI_SUCCESS;
}

}  // namespace

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

CounterConfig configure_counters(const ConfigureFunctions& cupti,
                                 CUpti_Profiler_Host_Object* object,
                                 const std::vector<std::string>& names) {
  CounterConfig out;
  std::vector<const char*> pointers = pointers_to(names);
  auto add = sized<CUpti_Profiler_Host_ConfigAddMetrics_Params>(
      CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  add.pHostObject = object;
  add.ppMetricNames = pointers.data();
  add.numMetrics = pointers.size();
  if (failed(out, "ConfigAddMetrics", cupti.add_metrics(&add))) return out;
  auto size = sized<CUpti_Profiler_Host_GetConfigImageSize_Params>(
      CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  size.pHostObject = object;
  if (failed(out, "GetConfigImageSize", cupti.image_size(&size))) return out;
  std::vector<std::uint8_t> bytes(size.configImageSize);
  auto image = sized<CUpti_Profiler_Host_GetConfigImage_Params>(
      CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  image.pHostObject = object;
  image.configImageSize = bytes.size();
  image.pConfigImage = bytes.data();
  if (failed(out, "GetConfigImage", cupti.image(&image))) return out;
  auto passes = sized<CUpti_Profiler_Host_GetNumOfPasses_Params>(
      CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  passes.configImageSize = bytes.size();
  passes.pConfigImage = bytes.data();
  if (failed(out, "GetNumOfPasses", cupti.passes(&passes))) return out;
  out.passes = passes.numOfPasses;
  out.image = std::move(bytes);
  return out;
}

}  // namespace warpmeter
