// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The part of the driver's management library that warpmeter uses. The toolkit need not have nvml.h
// where this is built, so that functions, structures and numbers are declared here, from NVIDIA's
// NVML API Reference Guide (release 580 and later; nvml.h, NVML_API_VERSION 13).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace warpmeter {

using NvmlDevice = void*;     // nvmlDevice_t
using NvmlGpmSample = void*;  // nvmlGpmSample_t

// nvmlReturn_t, those that are told apart here.
constexpr int nvml_success = 0;
constexpr int nvml_invalid_argument = 2;
constexpr int nvml_not_supported = 3;
constexpr int nvml_no_permission = 4;
constexpr int nvml_not_found = 6;
constexpr int nvml_function_not_found = 13;
constexpr int nvml_gpu_is_lost = 15;
constexpr int nvml_deprecated = 26;

// "NVML_ERROR_NOT_SUPPORTED (3)"; a code without a name: "NVML error 77".
std::string nvml_error_name(int status);

constexpr unsigned int nvml_max_nv_links = 36;    // NVML_NVLINK_MAX_LINKS; 18 in older headers
constexpr unsigned int nvml_all_links = ~0U;      // scope of a field: the sum over all links
constexpr unsigned int nvml_temperature_gpu = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned int nvml_clock_sm = 1;         // NVML_CLOCK_SM
constexpr unsigned int nvml_clock_memory = 2;     // NVML_CLOCK_MEM
constexpr int nvml_link_device_switch = 2;        // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr unsigned int nvml_gpm_version = 1;  // NVML_GPM_METRICS_GET_VERSION and ..._SUPPORT_...
constexpr std::size_t nvml_gpm_most_metrics = 333;  // NVML_GPM_METRIC_MAX; 98 in the oldest headers

// nvmlClocksEventReason*: the bit, and what keeps the clock from being higher.
constexpr std::array<std::pair<unsigned long long, const char*>, 9> nvml_clock_reasons{{
    {0x001, "gpu_idle"},
    {0x002, "applications_clocks"},
    {0x004, "software_power_cap"},
    {0x008, "hardware_slowdown"},
    {0x010, "sync_boost"},
    {0x020, "software_thermal"},
    {0x040, "hardware_thermal"},
    {0x080, "power_brake"},
    {0x100, "display_clocks"},
}};

// nvmlPciInfo_t of API version 2 and later.
struct NvmlPciInfo {
  char bus_id_legacy[16];
  unsigned int domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(NvmlPciInfo) == 68);

// nvmlUtilization_t: percent.
struct NvmlUtilization {
  unsigned int gpu, memory;
};
static_assert(sizeof(NvmlUtilization) == 8);

// nvmlFieldValue_t. `type` says which of `value` is set, if `status` is nvml_success.
struct NvmlField {
  unsigned int id, scope;
  long long timestamp_us, latency_us;
  int type;  // nvmlValueType_t
  int status;
  union {
    double real;                     // type 0
    unsigned int small;              // 1
    unsigned long natural;           // 2
    unsigned long long large;        // 3
    signed long long large_integer;  // 4
    int integer;                     // 5
    unsigned short tiny;             // 6
  } value;
};
static_assert(sizeof(NvmlField) == 40 && offsetof(NvmlField, timestamp_us) == 8 &&
              offsetof(NvmlField, type) == 24 && offsetof(NvmlField, value) == 32);

// The value as a number, whatever its type; NaN for a type that is not known.
double nvml_number(const NvmlField& field);

// nvmlConfComputeSystemState_t.
struct NvmlConfidentialState {
  unsigned int environment, feature, developer_tools;
};
static_assert(sizeof(NvmlConfidentialState) == 12);

// nvmlGpmSupport_t.
struct NvmlGpmSupport {
  unsigned int version, supported;
};
static_assert(sizeof(NvmlGpmSupport) == 8);

// nvmlGpmMetric_t.
struct NvmlGpmMetric {
  unsigned int id;
  int status;
  double value;
  const char *short_name, *long_name, *unit;
};
static_assert(sizeof(NvmlGpmMetric) == 40 && offsetof(NvmlGpmMetric, value) == 8 &&
              offsetof(NvmlGpmMetric, short_name) == 16);

// nvmlGpmMetricsGet_t: the first `count` of `metrics` are asked for.
struct NvmlGpmRequest {
  unsigned int version, count;
  NvmlGpmSample from, to;
  std::array<NvmlGpmMetric, nvml_gpm_most_metrics> metrics;
};
static_assert(offsetof(NvmlGpmRequest, from) == 8 && offsetof(NvmlGpmRequest, metrics) == 24);

// Member, symbol, arguments. Each returns nvmlReturn_t. Those that a driver lacks stay null.
#define WARPMETER_NVML_FUNCTIONS(X)                                                                \
  X(init, "nvmlInit_v2", ())                                                                       \
  X(handle_by_pci, "nvmlDeviceGetHandleByPciBusId_v2", (const char*, NvmlDevice*))                 \
  X(handle_by_uuid, "nvmlDeviceGetHandleByUUID", (const char*, NvmlDevice*))                       \
  X(parent_of_mig, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle", (NvmlDevice, NvmlDevice*))      \
  X(is_mig, "nvmlDeviceIsMigDeviceHandle", (NvmlDevice, unsigned int*))                            \
  X(mig_mode, "nvmlDeviceGetMigMode", (NvmlDevice, unsigned int*, unsigned int*))                  \
  X(virtualization_mode, "nvmlDeviceGetVirtualizationMode", (NvmlDevice, int*))                    \
  X(persistence_mode, "nvmlDeviceGetPersistenceMode", (NvmlDevice, int*))                          \
  X(confidential_state, "nvmlSystemGetConfComputeState", (NvmlConfidentialState*))                 \
  X(common_ancestor, "nvmlDeviceGetTopologyCommonAncestor", (NvmlDevice, NvmlDevice, int*))        \
  X(link_state, "nvmlDeviceGetNvLinkState", (NvmlDevice, unsigned int, int*))                      \
  X(link_remote_pci, "nvmlDeviceGetNvLinkRemotePciInfo_v2", (NvmlDevice, unsigned, NvmlPciInfo*))  \
  X(link_remote_type, "nvmlDeviceGetNvLinkRemoteDeviceType", (NvmlDevice, unsigned int, int*))     \
  X(temperature, "nvmlDeviceGetTemperature", (NvmlDevice, unsigned int, unsigned int*))            \
  X(power, "nvmlDeviceGetPowerUsage", (NvmlDevice, unsigned int*))                                 \
  X(clock, "nvmlDeviceGetClockInfo", (NvmlDevice, unsigned int, unsigned int*))                    \
  X(clock_reasons, "nvmlDeviceGetCurrentClocksThrottleReasons", (NvmlDevice, unsigned long long*)) \
  X(pcie_generation, "nvmlDeviceGetCurrPcieLinkGeneration", (NvmlDevice, unsigned int*))           \
  X(pcie_width, "nvmlDeviceGetCurrPcieLinkWidth", (NvmlDevice, unsigned int*))                     \
  X(utilization, "nvmlDeviceGetUtilizationRates", (NvmlDevice, NvmlUtilization*))                  \
  X(fields, "nvmlDeviceGetFieldValues", (NvmlDevice, int, NvmlField*))                             \
  X(gpm_support, "nvmlGpmQueryDeviceSupport", (NvmlDevice, NvmlGpmSupport*))                       \
  X(gpm_allocate, "nvmlGpmSampleAlloc", (NvmlGpmSample*))                                          \
  X(gpm_free, "nvmlGpmSampleFree", (NvmlGpmSample))                                                \
  X(gpm_sample, "nvmlGpmSampleGet", (NvmlDevice, NvmlGpmSample))                                   \
  X(gpm_metrics, "nvmlGpmMetricsGet", (NvmlGpmRequest*))

struct NvmlApi {
#define WARPMETER_NVML_MEMBER(member, symbol, arguments) int(*member) arguments = nullptr;
  WARPMETER_NVML_FUNCTIONS(WARPMETER_NVML_MEMBER)
#undef WARPMETER_NVML_MEMBER
};

// The library, opened and started once per process. Null if it is missing or does not start; `why`
// then says so in one line, else it is empty.
const NvmlApi* open_nvml(std::string& why);

}  // namespace warpmeter
