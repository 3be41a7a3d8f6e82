// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// Planning and evaluation, for the emulated chip only.
#include <cupti_profiler_target.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "emulator/driver/cupti_chip.h"
#include "emulator/driver/cupti_metrics.h"
#include "emulator/driver/cupti_state.h"

using emulator::Metric;
using emulator::runtime;

// What the client holds a pointer to.
struct CUpti_Profiler_Host_Object {
  CUpti_ProfilerType type;
  std::vector<std::string> names;
  std::vector<const char*> listed;  // what a query has given, until the next
};

namespace {

bool known_chip(const char* name, const std::uint8_t* availability) {
  if (std::strcmp(name, emulator::true_chip_name()) == 0) return true;
  // As for a chip that is newer than CUPTI.
  return availability != nullptr &&
         std::strcmp(reinterpret_cast<const char*>(availability), emulator::true_chip_name()) == 0;
}

}  // namespace

extern "C" {

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_Initialize);
  EMULATOR_CUPTI_READY();
  if (params->pChipName == nullptr || params->profilerType < 0 ||
      params->profilerType >= CUPTI_PROFILER_TYPE_PROFILER_INVALID) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  if (!known_chip(params->pChipName, params->pCounterAvailabilityImage)) {
    return CUPTI_ERROR_INVALID_CHIP_NAME;
  }
  params->pHostObject = new CUpti_Profiler_Host_Object{params->profilerType, {}, {}};
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_Deinitialize);
  if (params->pHostObject == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSupportedChips(
    CUpti_Profiler_Host_GetSupportedChips_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetSupportedChips);
  EMULATOR_CUPTI_READY();
  static const char* const names[] = {emulator::true_chip_name()};
  params->numChips = 1;
  params->ppChipNames = names;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetBaseMetrics(CUpti_Profiler_Host_GetBaseMetrics_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetBaseMetrics);
  if (params->pHostObject == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& listed = params->pHostObject->listed;
  listed.clear();
  for (const Metric& metric : emulator::metrics()) {
    if (metric.type == params->metricType) listed.push_back(metric.base);
  }
  params->ppMetricNames = listed.data();
  params->numMetrics = listed.size();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetSubMetrics(CUpti_Profiler_Host_GetSubMetrics_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetSubMetrics);
  if (params->pHostObject == nullptr || params->pMetricName == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Metric* const metric = emulator::find_metric(params->pMetricName);
  if (metric == nullptr || metric->type != params->metricType) {
    return CUPTI_ERROR_INVALID_METRIC_NAME;
  }
  auto& listed = params->pHostObject->listed;
  listed = metric->endings;
  params->numOfSubmetrics = listed.size();
  params->ppSubMetrics = listed.data();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMetricProperties(
    CUpti_Profiler_Host_GetMetricProperties_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetMetricProperties);
  if (params->pHostObject == nullptr || params->pMetricName == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Metric* const metric = emulator::find_metric(params->pMetricName);
  if (metric == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->pDescription = metric->text;
  params->pHwUnit = "emulated";
  params->pDimUnit = metric->unit;
  params->metricType = metric->type;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics);
  if (params->pHostObject == nullptr || params->ppMetricNames == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const char* const* const names = params->ppMetricNames;
  // One name that is wrong, or has no ending, fails all.
  const bool all = std::all_of(names, names + params->numMetrics, [](const char* name) {
    return name != nullptr && std::strchr(name, '.') != nullptr &&
           emulator::find_metric(name) != nullptr;
  });
  if (!all) return CUPTI_ERROR_INVALID_PARAMETER;
  auto& chosen = params->pHostObject->names;
  chosen.insert(chosen.end(), names, names + params->numMetrics);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(
    CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetConfigImageSize);
  if (params->pHostObject == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  params->configImageSize = emulator::make_config(params->pHostObject->names).size();
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetConfigImage);
  if (params->pHostObject == nullptr || params->pConfigImage == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const auto image = emulator::make_config(params->pHostObject->names);
  if (params->configImageSize < image.size()) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  std::memcpy(params->pConfigImage, image.data(), image.size());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetNumOfPasses);
  const int count = emulator::metrics_in_config(params->pConfigImage, params->configImageSize);
  if (count < 0) return CUPTI_ERROR_INVALID_PARAMETER;
  params->numOfPasses = emulator::passes_of(count);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetMaxNumHardwareMetricsPerPass(
    CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetMaxNumHardwareMetricsPerPass);
  EMULATOR_CUPTI_READY();
  if (params->pChipName == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (!known_chip(params->pChipName, params->pCounterAvailabilityImage)) {
    return CUPTI_ERROR_INVALID_CHIP_NAME;
  }
  params->maxMetricsPerPass = emulator::faults().number("per_pass", emulator::metrics().size());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(
    CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (params->pHostObject == nullptr || params->ppMetricNames == nullptr ||
      params->pMetricValues == nullptr || !image.valid() ||
      image.row(params->rangeIndex) == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  for (std::size_t i = 0; i < params->numMetrics; ++i) {
    if (!emulator::evaluate(params->ppMetricNames[i], image.row(params->rangeIndex)->counts,
                            &params->pMetricValues[i])) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
  }
  return CUPTI_SUCCESS;
}
// The caller frees the name.
CUptiResult cuptiProfilerHostGetRangeName(CUpti_Profiler_Host_GetRangeName_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Host_GetRangeName);
  const emulator::RowImage image(params->pCounterDataImage, params->counterDataImageSize);
  if (!image.valid() || image.row(params->rangeIndex) == nullptr) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const char* const delimiter = params->delimiter == nullptr ? "/" : params->delimiter;
  params->pRangeName =
      ::strdup(emulator::range_name(*image.row(params->rangeIndex), delimiter).c_str());
  return CUPTI_SUCCESS;
}

}  // extern "C"
