// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>

#include "collectors/cupti_api.h"
#include "collectors/cupti_error.h"
#include "collectors/cupti_library.h"
#include "collectors/cupti_params.h"
#include "collectors/probe.h"
#include "core/error.h"

namespace warpmeter {
namespace {

ProbeResult failed(const TargetDevice& device, const char* call, int error) {
  return {device.uuid, error, fmt::format("{}: {}", call, describe_cupti_error(error))};
}

// On, configured, off: never started.
ProbeResult probe_device(const CuptiApi& cupti, const TargetDevice& device, std::size_t index,
                         const PmConfigure& configure) {
  auto chip = sized<CUpti_Device_GetChipName_Params>(CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  chip.deviceIndex = index;
  if (const int error = cupti.cuptiDeviceGetChipName(&chip); error != CUPTI_SUCCESS)
    return failed(device, "cuptiDeviceGetChipName", error);
  const CounterConfig config = configure(chip.pChipName);
  if (config.error != 0) return failed(device, config.call, config.error);

  auto enable = sized<CUpti_PmSampling_Enable_Params>(CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  enable.deviceIndex = index;
  if (const int error = cupti.cuptiPmSamplingEnable(&enable); error != CUPTI_SUCCESS)
    return failed(device, "cuptiPmSamplingEnable", error);
  auto set =
      sized<CUpti_PmSampling_SetConfig_Params>(CUpti_PmSampling_SetConfig_Params_STRUCT_SIZE);
  set.pPmSamplingObject = enable.pPmSamplingObject;
  set.configSize = config.image.size();
  set.pConfig = config.image.data();
  set.hardwareBufferSize = std::size_t{1} << 20;
  set.samplingInterval = 100000;
  set.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;  // all chips have this one
  const int set_error = cupti.cuptiPmSamplingSetConfig(&set);
  auto disable =
      sized<CUpti_PmSampling_Disable_Params>(CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
  disable.pPmSamplingObject = enable.pPmSamplingObject;
  const int disable_error = cupti.cuptiPmSamplingDisable(&disable);
  if (set_error != CUPTI_SUCCESS) return failed(device, "cuptiPmSamplingSetConfig", set_error);
  if (disable_error != CUPTI_SUCCESS)
    return failed(device, "cuptiPmSamplingDisable", disable_error);
  return {device.uuid, 0, ""};
}

std::vector<ProbeResult> probe_here() {
  const DriverGate gate = pass_driver_gate();
  if (!gate.passed()) return {{"", 0, gate.why}};
  try {
    std::string path;
    const SharedLibrary library = open_cupti(path);
    return probe_devices(bind_cupti(library, path), gate.devices, [](const std::string& name) {
      return CuptiHost::open().chip(name, Profiler::pm).configure({probe_metric});
    });
  } catch (const InputError& error) {
    return {{"", 0, error.what()}};
  }
}

}  // namespace

std::vector<ProbeResult> probe_devices(const CuptiApi& cupti,
                                       const std::vector<TargetDevice>& devices,
                                       const PmConfigure& configure) {
  CUpti_Profiler_Initialize_Params initialize{CUpti_Profiler_Initialize_Params_STRUCT_SIZE,
                                              nullptr};
  if (const int error = cupti.cuptiProfilerInitialize(&initialize); error != CUPTI_SUCCESS)
    return {failed({}, "cuptiProfilerInitialize", error)};
  std::vector<ProbeResult> results;
  for (std::size_t i = 0; i < devices.size(); ++i)
    results.push_back(probe_device(cupti, devices[i], i, configure));
  return results;
}

std::vector<ProbeResult> probe_counters(std::chrono::milliseconds limit) {
  std::string why;
  const std::string text = ask_in_child([] { return to_text(probe_here()); }, limit, why);
  if (!why.empty()) return {{"", 0, "the probe " + why}};
  return probe_results_of(text);
}

}  // namespace warpmeter
