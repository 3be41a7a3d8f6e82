// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/device.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string_view>

#include "core/cuda_text.h"
#include "cuda/check.h"
#include "cuda/links.h"
#include "cuda/nvml.h"

namespace warpmeter {
namespace {

struct Attribute {
  const char* name;
  cudaDeviceAttr id;
  Unit unit;
  double scale;
};

constexpr Attribute attributes[] = {
    {"sm.count", cudaDevAttrMultiProcessorCount, Unit::one, 1},
    {"sm.threads.max", cudaDevAttrMaxThreadsPerMultiProcessor, Unit::one, 1},
    {"sm.registers", cudaDevAttrMaxRegistersPerMultiprocessor, Unit::one, 1},
    {"sm.shared.size", cudaDevAttrMaxSharedMemoryPerMultiprocessor, Unit::byte, 1},
    {"block.shared.max", cudaDevAttrMaxSharedMemoryPerBlockOptin, Unit::byte, 1},
    {"clock.sm.max", cudaDevAttrClockRate, Unit::hertz, 1e3},             // kHz
    {"memory.clock.max", cudaDevAttrMemoryClockRate, Unit::hertz, 1e3},   // kHz
    {"memory.bus_width", cudaDevAttrGlobalMemoryBusWidth, Unit::one, 1},  // bits
    {"cache.l2.size", cudaDevAttrL2CacheSize, Unit::byte, 1},
    {"cache.l2.persisting.max", cudaDevAttrMaxPersistingL2CacheSize, Unit::byte, 1},
    {"ecc", cudaDevAttrEccEnabled, Unit::one, 1},
    {"copy.engines", cudaDevAttrAsyncEngineCount, Unit::one, 1},
    {"watchdog", cudaDevAttrKernelExecTimeout, Unit::one, 1},
    {"mps", cudaDevAttrMpsEnabled, Unit::one, 1},
    {"integrated", cudaDevAttrIntegrated, Unit::one, 1},
};

void add_attributes(Facts& facts, int ordinal) {
  for (const Attribute& attribute : attributes) {
    int value = 0;
    const cudaError_t status = cudaDeviceGetAttribute(&value, attribute.id, ordinal);
    if (status == cudaSuccess) {
      facts[attribute.name] = {attribute.scale * value, attribute.unit, "cudaDeviceGetAttribute"};
    } else {
      (void)cudaGetLastError();
      facts[attribute.name] = {Json(), attribute.unit,
                               fmt::format("cudaDeviceGetAttribute: {}", cudaGetErrorName(status))};
    }
  }
}

void add_properties(Facts& facts, int ordinal) {
  cudaDeviceProp properties;
  GPU_CHECK(cudaGetDeviceProperties(&properties, ordinal));
  const std::string source = "cudaGetDeviceProperties";
  facts["name"] = {properties.name, std::nullopt, source};
  std::array<unsigned char, 16> uuid;
  std::memcpy(uuid.data(), properties.uuid.bytes, uuid.size());
  facts["uuid"] = {cuda_uuid_text("GPU", uuid), std::nullopt, source};
  facts["compute_capability"] = {fmt::format("{}.{}", properties.major, properties.minor),
                                 std::nullopt, source};
  facts["memory.total"] = {properties.totalGlobalMem, Unit::byte, source};
  int driver = 0, runtime = 0;
  GPU_CHECK(cudaDriverGetVersion(&driver));
  GPU_CHECK(cudaRuntimeGetVersion(&runtime));
  facts["driver.cuda"] = {cuda_version_text(driver), std::nullopt, "cudaDriverGetVersion"};
  facts["runtime.cuda"] = {cuda_version_text(runtime), std::nullopt, "cudaRuntimeGetVersion"};
}

template <typename T>
Fact optional_fact(const std::optional<T>& value, const std::string& source,
                   std::optional<Unit> unit = std::nullopt) {
  return value ? Fact{*value, unit, source} : Fact{Json(), unit, source + ": not exposed here"};
}

void add_pci(Facts& facts, int ordinal) {
  char text[32] = "";
  GPU_CHECK(cudaDeviceGetPCIBusId(text, sizeof text, ordinal));
  const std::string id = normal_pci_id(text);
  facts["pci.bus_id"] = {id, std::nullopt, "cudaDeviceGetPCIBusId"};
  facts["pci.link_speed.max"] = optional_fact(pci_attribute(id, "max_link_speed"), "/sys");
  facts["pci.link_width.max"] = optional_fact(pci_attribute(id, "max_link_width"), "/sys");
  facts["numa.node"] = optional_fact(pci_numa_node(id), "/sys", Unit::one);
  std::string why;
  const Nvml* nvml = Nvml::open(why);
  const std::string source = nvml != nullptr ? "NVML" : why;
  facts["mig"] = optional_fact(nvml ? nvml->mig(id) : std::nullopt, source);
  facts["virtualization"] = optional_fact(nvml ? nvml->virtualization(id) : std::nullopt, source);
  facts["persistence"] = optional_fact(nvml ? nvml->persistence(id) : std::nullopt, source);
}

// The emulated GPU names itself in the device's name and says in the environment which chip file
// it read (docs/emulator.md).
void add_emulation(Facts& facts) {
  constexpr std::string_view prefix = "warpmeter emulated ";
  const std::string name = fact_text(facts, "name");
  if (!name.starts_with(prefix)) return;
  facts["emulated"] = {true, std::nullopt, "cudaGetDeviceProperties: the device's name"};
  facts["emulated.chip"] = {name.substr(prefix.size()), std::nullopt, "cudaGetDeviceProperties"};
  const char* chip = std::getenv("WARPMETER_EMULATED_CHIP");
  const std::string_view text = chip != nullptr ? chip : "";
  const auto space = text.rfind(' ');
  facts["emulated.chip_hash"] = {
      space == text.npos ? Json() : Json(std::string(text.substr(space + 1))), std::nullopt,
      "environment: WARPMETER_EMULATED_CHIP"};
}

void add_environment(Facts& facts) {
  for (const char* name :
       {"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER", "CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE"}) {
    const char* value = std::getenv(name);
    std::string fact = fmt::format("env.{}", name);
    std::transform(fact.begin(), fact.end(), fact.begin(),
                   [](char c) { return char(std::tolower(static_cast<unsigned char>(c))); });
    facts[fact] = {value != nullptr ? Json(value) : Json(), std::nullopt, "environment"};
  }
}

std::string why_no_devices(cudaError_t status) {
  if (status == cudaSuccess || status == cudaErrorNoDevice) {
    return "the CUDA driver shows no device; check nvidia-smi and CUDA_VISIBLE_DEVICES";
  }
  // Asked only now, because a substitute runtime needs no driver.
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) return "no CUDA driver: libcuda.so.1 not found";
  dlclose(driver);
  return fmt::format("{} ({})", cudaGetErrorName(status), cudaGetErrorString(status));
}

}  // namespace

Facts read_cuda_facts(int ordinal) {
  Facts facts;
  add_properties(facts, ordinal);
  add_emulation(facts);
  add_attributes(facts, ordinal);
  add_pci(facts, ordinal);
  add_environment(facts);
  return facts;
}

std::vector<Device> find_cuda_devices(std::string& why_none) {
  why_none.clear();
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0) {
    why_none = why_no_devices(status);
    return {};
  }
  std::vector<Device> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      devices.push_back({DeviceKind::cuda, ordinal, read_cuda_facts(ordinal)});
    } catch (const std::exception& error) {
      why_none = fmt::format("cuda:{}: {}", ordinal, error.what());
    }
  }
  if (!devices.empty()) why_none.clear();
  return devices;
}

Json device_state(const Device& device) {
  std::string why;
  const Nvml* nvml = Nvml::open(why);
  if (nvml == nullptr) return {{"nvml", why}};
  return nvml->state(fact_text(device.facts, "pci.bus_id"));
}

}  // namespace warpmeter
