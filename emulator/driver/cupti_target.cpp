// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What the profilers of a device have in common.
#include <cupti_pmsampling.h>
#include <cupti_profiler_target.h>

#include <cstring>

#include "emulator/driver/cupti_chip.h"
#include "emulator/driver/cupti_counting.h"

namespace emulator {
namespace {

std::atomic<bool> initialized{false};

// The chip's name; nothing on it is taken.
CUptiResult give_availability(std::size_t* size, std::uint8_t* image) {
  const std::size_t needed = std::strlen(true_chip_name()) + 1;
  if (image != nullptr) {
    if (*size < needed) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    std::memcpy(image, true_chip_name(), needed);
  }
  *size = needed;
  return CUPTI_SUCCESS;
}

}  // namespace

bool profiler_initialized() { return initialized; }

void change_sessions(int by) {
  const std::lock_guard lock(state().mutex);
  state().sessions += by;
  refresh_listener();
}

}  // namespace emulator

using emulator::runtime;

extern "C" {

CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_Initialize);
  EMULATOR_CUPTI_READY();
  if (emulator::faults().number("init") != 0) return emulator::faults().error("init");
  emulator::initialized = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_DeInitialize);
  // The real library does not count either, and dies the second time.
  return emulator::initialized.exchange(false) ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_INITIALIZED;
}

CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_DeviceSupported);
  EMULATOR_CUPTI_READY();
  if (!emulator::initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  if (params->cuDevice < 0 || params->cuDevice >= runtime().chip().devices) {
    return CUPTI_ERROR_INVALID_DEVICE;
  }
  const bool works =
      params->api == CUPTI_PROFILER_RANGE_PROFILING || params->api == CUPTI_PROFILER_PM_SAMPLING;
  params->isSupported =
      works ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  params->architecture = params->isSupported;
  params->sli = params->vGpu = params->confidentialCompute = params->cmp = params->wsl =
      CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(
    CUpti_Profiler_GetCounterAvailability_Params* params) {
  EMULATOR_PARAMS(CUpti_Profiler_GetCounterAvailability);
  EMULATOR_CUPTI_READY();
  if (!emulator::initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  return emulator::give_availability(&params->counterAvailabilityImageSize,
                                     params->pCounterAvailabilityImage);
}
CUptiResult cuptiPmSamplingGetCounterAvailability(
    CUpti_PmSampling_GetCounterAvailability_Params* params) {
  EMULATOR_PARAMS(CUpti_PmSampling_GetCounterAvailability);
  EMULATOR_CUPTI_READY();
  if (params->deviceIndex >= static_cast<std::size_t>(runtime().chip().devices)) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  return emulator::give_availability(&params->counterAvailabilityImageSize,
                                     params->pCounterAvailabilityImage);
}

}  // extern "C"
