// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "tests/collectors/fake_pm.h"

#include <cmath>
#include <cstring>

#include "collectors/clock.h"

namespace warpmeter {
namespace {

FakePm* fake = nullptr;

// What a host object has been asked to configure.
struct Host {
  std::vector<std::string> names;
  double weight = 0;
};

Host& host_of(CUpti_Profiler_Host_Object* object) { return *reinterpret_cast<Host*>(object); }

FakePm::Device& device_of(const CUpti_PmSampling_Object* object) {
  return *reinterpret_cast<FakePm::Device*>(const_cast<CUpti_PmSampling_Object*>(object));
}

std::string image_text(const Host& host) {
  std::string text = std::to_string(std::lround(std::ceil(host.weight - 1e-9)));
  for (const std::string& name : host.names) text += "\n" + name;
  return text;
}

// A counter data image: how many samples it holds, then the samples.
using Count = std::uint64_t;
FakePm::Sample* samples_in(std::uint8_t* image) {
  return reinterpret_cast<FakePm::Sample*>(image + sizeof(Count));
}
Count& count_in(std::uint8_t* image) { return *reinterpret_cast<Count*>(image); }

CUptiResult evaluate(CUpti_Profiler_Host_EvaluateToGpuValues_Params* p) {
  auto* image = const_cast<std::uint8_t*>(p->pCounterDataImage);
  if (p->rangeIndex >= count_in(image)) return CUPTI_ERROR_INVALID_PARAMETER;
  for (std::size_t i = 0; i < p->numMetrics; ++i)
    p->pMetricValues[i] = samples_in(image)[p->rangeIndex].value * static_cast<double>(i + 1);
  return CUPTI_SUCCESS;
}

CUptiResult decode(CUpti_PmSampling_DecodeData_Params* p) {
  const std::lock_guard lock(fake->mutex);
  FakePm::Device& device = device_of(p->pPmSamplingObject);
  if (!device.enabled || count_in(p->pCounterDataImage) != 0) {
    ++fake->rejected_decodes;
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  const Count room = (p->counterDataImageSize - sizeof(Count)) / sizeof(FakePm::Sample);
  Count& count = count_in(p->pCounterDataImage);
  while (!device.hardware.empty() && count < room) {
    samples_in(p->pCounterDataImage)[count++] = device.hardware.front();
    device.hardware.pop_front();
  }
  p->decodeStopReason = device.hardware.empty()
                            ? CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS
                            : CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
  p->overflow = device.overflow ? 1 : 0;
  device.overflow = false;
  return std::exchange(device.decode_result, CUPTI_SUCCESS);
}

void plan_functions(CuptiApi& api) {
  api.cuptiProfilerHostInitialize = [](CUpti_Profiler_Host_Initialize_Params* p) {
    if (p->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING ||
        std::string(p->pChipName) != "GH100" || p->pCounterAvailabilityImage == nullptr)
      return CUPTI_ERROR_INVALID_CHIP_NAME;
    p->pHostObject = reinterpret_cast<CUpti_Profiler_Host_Object*>(new Host);
    ++fake->hosts;
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostDeinitialize = [](CUpti_Profiler_Host_Deinitialize_Params* p) {
    delete &host_of(p->pHostObject);
    --fake->hosts;
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostConfigAddMetrics = [](CUpti_Profiler_Host_ConfigAddMetrics_Params* p) {
    for (std::size_t i = 0; i < p->numMetrics; ++i) {
      const auto known = fake->weights.find(p->ppMetricNames[i]);
      if (known == fake->weights.end()) return CUPTI_ERROR_INVALID_METRIC_NAME;
      host_of(p->pHostObject).names.push_back(known->first);
      host_of(p->pHostObject).weight += known->second;
    }
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetConfigImageSize = [](CUpti_Profiler_Host_GetConfigImageSize_Params* p) {
    p->configImageSize = image_text(host_of(p->pHostObject)).size();
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetConfigImage = [](CUpti_Profiler_Host_GetConfigImage_Params* p) {
    const std::string text = image_text(host_of(p->pHostObject));
    std::memcpy(p->pConfigImage, text.data(), text.size());
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostGetNumOfPasses = [](CUpti_Profiler_Host_GetNumOfPasses_Params* p) {
    p->numOfPasses = std::stoul(std::string(p->pConfigImage, p->pConfigImage + p->configImageSize));
    return CUPTI_SUCCESS;
  };
  api.cuptiProfilerHostEvaluateToGpuValues = evaluate;
}

void sampler_functions(CuptiApi& api) {
  api.cuptiPmSamplingGetCounterAvailability =
      [](CUpti_PmSampling_GetCounterAvailability_Params* p) {
        if (fake->device(p->deviceIndex).availability_result != CUPTI_SUCCESS)
          return fake->device(p->deviceIndex).availability_result;
        if (p->pCounterAvailabilityImage != nullptr)
          std::memset(p->pCounterAvailabilityImage, 7, 16);
        p->counterAvailabilityImageSize = 16;
        return CUPTI_SUCCESS;
      };
  api.cuptiPmSamplingEnable = [](CUpti_PmSampling_Enable_Params* p) {
    const std::lock_guard lock(fake->mutex);
    FakePm::Device& device = fake->device(p->deviceIndex);
    if (fake->initialized != 1 || device.enabled) return CUPTI_ERROR_INVALID_OPERATION;
    if (device.enable_result != CUPTI_SUCCESS) return device.enable_result;
    device.enabled = true;
    p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(&device);
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingDisable = [](CUpti_PmSampling_Disable_Params* p) {
    const std::lock_guard lock(fake->mutex);
    FakePm::Device& device = device_of(p->pPmSamplingObject);
    device.enabled = device.started = false;
    ++device.disabled;
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingSetConfig = [](CUpti_PmSampling_SetConfig_Params* p) {
    const std::lock_guard lock(fake->mutex);
    FakePm::Device& device = device_of(p->pPmSamplingObject);
    device.config = *p;
    device.intervals.push_back(p->samplingInterval);
    device.names.clear();
    std::string text(p->pConfig, p->pConfig + p->configSize);
    for (std::size_t at = text.find('\n'); at != std::string::npos;) {
      const std::size_t next = text.find('\n', at + 1);
      device.names.push_back(text.substr(at + 1, next - at - 1));
      at = next;
    }
    return text.substr(0, 2) == "1\n" ? CUPTI_SUCCESS : CUPTI_ERROR_NOT_SUPPORTED;
  };
  api.cuptiPmSamplingGetCounterDataSize = [](CUpti_PmSampling_GetCounterDataSize_Params* p) {
    p->counterDataSize = sizeof(Count) + p->maxSamples * sizeof(FakePm::Sample);
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingCounterDataImageInitialize =
      [](CUpti_PmSampling_CounterDataImage_Initialize_Params* p) {
        count_in(p->pCounterData) = 0;
        return CUPTI_SUCCESS;
      };
  api.cuptiPmSamplingStart = [](CUpti_PmSampling_Start_Params* p) {
    const std::lock_guard lock(fake->mutex);
    device_of(p->pPmSamplingObject).started = true;
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingStop = [](CUpti_PmSampling_Stop_Params* p) {
    const std::lock_guard lock(fake->mutex);
    device_of(p->pPmSamplingObject).started = false;
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingDecodeData = decode;
  api.cuptiPmSamplingGetCounterDataInfo = [](CUpti_PmSampling_GetCounterDataInfo_Params* p) {
    p->numCompletedSamples = count_in(const_cast<std::uint8_t*>(p->pCounterDataImage));
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingCounterDataGetSampleInfo =
      [](CUpti_PmSampling_CounterData_GetSampleInfo_Params* p) {
        auto* image = const_cast<std::uint8_t*>(p->pCounterDataImage);
        p->startTimestamp = samples_in(image)[p->sampleIndex].start;
        p->endTimestamp = samples_in(image)[p->sampleIndex].end;
        return CUPTI_SUCCESS;
      };
}

}  // namespace

FakePm::FakePm() : devices_(2) {
  fake = this;
  plan_functions(api_);
  sampler_functions(api_);
  api_.cuptiGetTimestamp = [](std::uint64_t* time) {
    *time = static_cast<std::uint64_t>(monotonic_ns() + fake->skew);
    return CUPTI_SUCCESS;
  };
  api_.cuptiProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    ++fake->initializations;
    ++fake->initialized;
    return CUPTI_SUCCESS;
  };
  api_.cuptiProfilerDeInitialize = [](CUpti_Profiler_DeInitialize_Params*) {
    ++fake->deinitializations;
    --fake->initialized;
    return CUPTI_SUCCESS;
  };
}

FakePm::~FakePm() { fake = nullptr; }

Target FakePm::target(int count, const std::string& chip) const {
  Target target;
  target.cupti = &api_;
  target.process_id = 5;
  for (int i = 0; i < count; ++i) target.devices.push_back({10 + i, "X", "GPU-1", chip, 9, 0, 132});
  return target;
}

void FakePm::produce(std::size_t device, int count, std::uint64_t width) {
  const std::lock_guard lock(mutex);
  auto begin = static_cast<std::uint64_t>(monotonic_ns() + skew) - 1000;
  for (int i = 0; i < count; ++i, begin += width)
    devices_[device].hardware.push_back({begin, begin + width, static_cast<double>(i)});
}

}  // namespace warpmeter
