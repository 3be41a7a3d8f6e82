// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "stand_in_nvml.h"

#include <cstdlib>

namespace warpmeter {

StandInNvml* stand_in_nvml() {
  static StandInNvml library;
  return &library;
}

namespace {

StandInNvml& library() { return *stand_in_nvml(); }

int fields_read = 0;
unsigned int gpm_taken = 0;

// Every call passes here: the planted status, or that the device is lost.
int enter(const char* symbol) {
  ++library().calls[symbol];
  if (library().lost_after >= 0 && fields_read > library().lost_after) return nvml_gpu_is_lost;
  const auto planted = library().status.find(symbol);
  return planted == library().status.end() ? nvml_success : planted->second;
}

// Handles are the index of the device plus one.
std::size_t index_of(NvmlDevice device) { return reinterpret_cast<std::size_t>(device) - 1; }

template <typename T>
T turn(const std::vector<T>& values, int call) {
  return values[static_cast<std::size_t>(call - 1) % values.size()];
}

int give(const char* symbol, unsigned int value, unsigned int* result) {
  const int status = enter(symbol);
  if (status == nvml_success) *result = value;
  return status;
}

}  // namespace

extern "C" {

int nvmlInit_v2() {
  const char* planted = std::getenv("STAND_IN_NVML_INIT");
  fields_read = 0;
  return planted == nullptr ? nvml_success : std::atoi(planted);
}

int nvmlDeviceGetHandleByPciBusId_v2(const char*, NvmlDevice*) { return nvml_not_found; }

int nvmlDeviceGetHandleByUUID(const char* uuid, NvmlDevice* device) {
  fields_read = 0;
  const auto& all = library().uuids;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] != uuid) continue;
    *device = reinterpret_cast<NvmlDevice>(i + 1);
    return nvml_success;
  }
  return nvml_not_found;
}

int nvmlDeviceIsMigDeviceHandle(NvmlDevice device, unsigned int* is_mig) {
  *is_mig = library().uuids[index_of(device)].rfind("MIG-", 0) == 0 ? 1 : 0;
  return nvml_success;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(NvmlDevice, NvmlDevice* parent) {
  *parent = reinterpret_cast<NvmlDevice>(std::size_t{1});
  return enter("nvmlDeviceGetDeviceHandleFromMigDeviceHandle");
}

int nvmlDeviceGetTemperature(NvmlDevice, unsigned int, unsigned int* value) {
  return give("nvmlDeviceGetTemperature", library().temperature, value);
}

int nvmlDeviceGetPowerUsage(NvmlDevice, unsigned int* value) {
  return give("nvmlDeviceGetPowerUsage", library().power, value);
}

int nvmlDeviceGetClockInfo(NvmlDevice, unsigned int type, unsigned int* value) {
  const char* symbol = type == nvml_clock_sm ? "sm_clock" : "memory_clock";
  const auto& clocks = type == nvml_clock_sm ? library().sm_clocks : library().memory_clocks;
  const int status = enter(symbol);
  if (status == nvml_success) *value = turn(clocks, library().calls[symbol]);
  return status;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(NvmlDevice, unsigned long long* bits) {
  const int status = enter("clock_reasons");
  if (status == nvml_success) *bits = turn(library().reasons, library().calls["clock_reasons"]);
  return status;
}

int nvmlDeviceGetCurrPcieLinkGeneration(NvmlDevice, unsigned int* value) {
  return give("nvmlDeviceGetCurrPcieLinkGeneration", library().generation, value);
}

int nvmlDeviceGetCurrPcieLinkWidth(NvmlDevice, unsigned int* value) {
  return give("nvmlDeviceGetCurrPcieLinkWidth", library().width, value);
}

int nvmlDeviceGetUtilizationRates(NvmlDevice, NvmlUtilization* value) {
  *value = library().utilization;
  return enter("nvmlDeviceGetUtilizationRates");
}

// Every other link that there is sleeps.
int nvmlDeviceGetNvLinkState(NvmlDevice, unsigned int link, int* active) {
  const int status = enter("nvmlDeviceGetNvLinkState");
  if (status != nvml_success) return status;
  if (link >= 2 * library().links) return nvml_invalid_argument;
  *active = link % 2 == 0 ? 1 : 0;
  return nvml_success;
}

int nvmlDeviceGetFieldValues(NvmlDevice, int count, NvmlField* values) {
  ++fields_read;
  if (const int status = enter("nvmlDeviceGetFieldValues"); status != nvml_success) return status;
  for (int i = 0; i < count; ++i) {
    NvmlField& value = values[i];
    const auto planted = library().fields.find(value.id);
    if (planted == library().fields.end()) {
      value.status = nvml_not_supported;
      continue;
    }
    StandInNvml::Field& field = planted->second;
    value.status = field.status;
    value.type = field.type;
    const double number = field.value + field.step * field.readings++;
    switch (field.type) {
      case 0:
        value.value.real = number;
        break;
      case 1:
        value.value.small = static_cast<unsigned int>(number);
        break;
      case 4:
        value.value.large_integer = static_cast<long long>(number);
        break;
      case 5:
        value.value.integer = static_cast<int>(number);
        break;
      case 6:
        value.value.tiny = static_cast<unsigned short>(number);
        break;
      default:
        value.value.large = static_cast<unsigned long long>(number);
    }
  }
  return nvml_success;
}

int nvmlGpmQueryDeviceSupport(NvmlDevice, NvmlGpmSupport* support) {
  if (support->version != 1) return 25;  // NVML_ERROR_ARGUMENT_VERSION_MISMATCH
  support->supported = library().gpm_supported ? 1 : 0;
  return enter("nvmlGpmQueryDeviceSupport");
}

int nvmlGpmSampleAlloc(NvmlGpmSample* sample) {
  if (const int status = enter("nvmlGpmSampleAlloc"); status != nvml_success) return status;
  ++library().gpm_allocated;
  *sample = new unsigned int(0);
  return nvml_success;
}

int nvmlGpmSampleFree(NvmlGpmSample sample) {
  --library().gpm_allocated;
  delete static_cast<unsigned int*>(sample);
  return nvml_success;
}

int nvmlGpmSampleGet(NvmlDevice device, NvmlGpmSample sample) {
  library().gpm_device = library().uuids[index_of(device)];
  *static_cast<unsigned int*>(sample) = ++gpm_taken;
  return enter("nvmlGpmSampleGet");
}

int nvmlGpmMetricsGet(NvmlGpmRequest* request) {
  if (request->version != 1) return 25;
  library().gpm_steps =
      *static_cast<unsigned int*>(request->to) - *static_cast<unsigned int*>(request->from);
  for (unsigned int i = 0; i < request->count; ++i) {
    NvmlGpmMetric& metric = request->metrics[i];
    const auto planted = library().gpm.find(metric.id);
    metric.status = planted == library().gpm.end() ? nvml_not_supported : nvml_success;
    if (metric.status == nvml_success) metric.value = planted->second;
  }
  return enter("nvmlGpmMetricsGet");
}

}  // extern "C"
}  // namespace warpmeter
