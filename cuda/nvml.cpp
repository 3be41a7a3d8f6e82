// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "core/error.h"
#include "core/shared_library.h"

namespace warpmeter {
namespace {

// nvmlPciInfo_t of API version 2 and later.
struct PciInfo {
  char bus_id_legacy[16];
  unsigned int domain;
  unsigned int bus;
  unsigned int device;
  unsigned int pci_device_id;
  unsigned int pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

constexpr unsigned int max_nv_links = 18;  // NVML_NVLINK_MAX_LINKS
constexpr int remote_is_switch = 0x02;     // NVML_NVLINK_DEVICE_TYPE_SWITCH
constexpr unsigned int sensor_gpu = 0;     // NVML_TEMPERATURE_GPU
constexpr unsigned int clock_sm = 1;       // NVML_CLOCK_SM
constexpr unsigned int clock_memory = 2;   // NVML_CLOCK_MEM

// nvmlClocksEventReason*.
constexpr std::pair<unsigned long long, const char*> clock_reasons[] = {
    {0x001, "gpu_idle"},          {0x002, "applications_clocks"}, {0x004, "software_power_cap"},
    {0x008, "hardware_slowdown"}, {0x010, "sync_boost"},          {0x020, "software_thermal"},
    {0x040, "hardware_thermal"},  {0x080, "power_brake"},         {0x100, "display_clocks"},
};

}  // namespace

// Every function returns nvmlReturn_t: 0 is success. Those that a driver lacks stay null.
struct Nvml::Functions {
  int (*init)() = nullptr;
  int (*handle_by_pci)(const char*, void**) = nullptr;
  int (*common_ancestor)(void*, void*, int*) = nullptr;
  int (*link_state)(void*, unsigned int, int*) = nullptr;
  int (*link_remote_pci)(void*, unsigned int, PciInfo*) = nullptr;
  int (*link_remote_type)(void*, unsigned int, int*) = nullptr;
  int (*mig_mode)(void*, unsigned int*, unsigned int*) = nullptr;
  int (*virtualization_mode)(void*, int*) = nullptr;
  int (*persistence_mode)(void*, int*) = nullptr;
  int (*temperature)(void*, unsigned int, unsigned int*) = nullptr;
  int (*power)(void*, unsigned int*) = nullptr;
  int (*clock)(void*, unsigned int, unsigned int*) = nullptr;
  int (*clock_reasons)(void*, unsigned long long*) = nullptr;

  void load(const SharedLibrary& library) {
    library.bind("nvmlInit_v2", init);
    library.bind("nvmlDeviceGetHandleByPciBusId_v2", handle_by_pci);
    library.bind("nvmlDeviceGetTopologyCommonAncestor", common_ancestor);
    library.bind("nvmlDeviceGetNvLinkState", link_state);
    library.bind("nvmlDeviceGetNvLinkRemotePciInfo_v2", link_remote_pci);
    library.bind("nvmlDeviceGetNvLinkRemoteDeviceType", link_remote_type);
    library.bind("nvmlDeviceGetMigMode", mig_mode);
    library.bind("nvmlDeviceGetVirtualizationMode", virtualization_mode);
    library.bind("nvmlDeviceGetPersistenceMode", persistence_mode);
    library.bind("nvmlDeviceGetTemperature", temperature);
    library.bind("nvmlDeviceGetPowerUsage", power);
    library.bind("nvmlDeviceGetClockInfo", clock);
    library.bind("nvmlDeviceGetCurrentClocksThrottleReasons", clock_reasons);
  }
};

namespace {

struct Library {
  Nvml::Functions functions;
  std::string why;  // empty if it works

  Library() {
    const SharedLibrary library = SharedLibrary::open("libnvidia-ml.so.1", why);
    if (!library) {
      why = "no NVML: " + why;
      return;
    }
    functions.load(library);
    if (functions.init == nullptr || functions.handle_by_pci == nullptr) {
      why = "libnvidia-ml.so.1 lacks nvmlInit_v2";
    } else if (const int status = functions.init(); status != 0) {
      why = fmt::format("nvmlInit_v2 returned {}", status);
    }
  }
};

// Active links of `device`: how many lead straight to `to`, how many to a switch.
struct LinkCount {
  int direct = 0;
  int switched = 0;
};

LinkCount count_links(const Nvml::Functions& f, void* device, const std::string& to) {
  LinkCount count;
  if (f.link_state == nullptr) return count;
  for (unsigned int link = 0; link < max_nv_links; ++link) {
    int active = 0;
    if (f.link_state(device, link, &active) != 0 || active == 0) continue;
    int type = -1;
    if (f.link_remote_type != nullptr) (void)f.link_remote_type(device, link, &type);
    if (type == remote_is_switch) {
      ++count.switched;
      continue;
    }
    PciInfo remote{};
    if (f.link_remote_pci == nullptr || f.link_remote_pci(device, link, &remote) != 0) continue;
    const std::string id =
        fmt::format("{:04x}:{:02x}:{:02x}.0", remote.domain, remote.bus, remote.device);
    if (id == to) ++count.direct;
  }
  return count;
}

std::optional<std::string> ancestor_name(int level) {  // nvmlGpuTopologyLevel_t
  switch (level) {
    case 0:  // both on one board
    case 10:
      return "PIX";
    case 20:
      return "PXB";
    case 30:
      return "PHB";
    case 40:
      return "NODE";
    case 50:
      return "SYS";
    default:
      return std::nullopt;
  }
}

}  // namespace

std::string normal_pci_id(std::string_view text) {
  unsigned int domain = 0, bus = 0, device = 0, function = 0;
  char rest = 0;
  const int fields = std::sscanf(std::string(text).c_str(), "%8x:%2x:%2x.%1x%c", &domain, &bus,
                                 &device, &function, &rest);
  if (fields != 4) throw InputError(fmt::format("not a PCI address: \"{}\"", text));
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", domain, bus, device, function);
}

const Nvml* Nvml::open(std::string& why) {
  static const Library library;
  static const Nvml nvml(library.functions);
  why = library.why;
  return why.empty() ? &nvml : nullptr;
}

void* Nvml::handle(const std::string& device) const {
  void* result = nullptr;
  return functions_.handle_by_pci(device.c_str(), &result) == 0 ? result : nullptr;
}

std::optional<std::string> Nvml::link(const std::string& from, const std::string& to) const {
  void* a = handle(from);
  void* b = handle(to);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const LinkCount forward = count_links(functions_, a, to);
  if (forward.direct > 0) return fmt::format("NV{}", forward.direct);
  // Through switches every link reaches every GPU: the narrower end counts.
  const int switched = std::min(forward.switched, count_links(functions_, b, from).switched);
  if (switched > 0) return fmt::format("NV{}", switched);
  int level = -1;
  if (functions_.common_ancestor == nullptr || functions_.common_ancestor(a, b, &level) != 0) {
    return std::nullopt;
  }
  return ancestor_name(level);
}

Json Nvml::state(const std::string& device) const {
  Json result = Json::object();
  void* gpu = handle(device);
  if (gpu == nullptr) return result;
  const Functions& f = functions_;
  unsigned int value = 0;
  if (f.temperature != nullptr && f.temperature(gpu, sensor_gpu, &value) == 0) {
    result["temperature"] = 273.15 + value;
  }
  if (f.power != nullptr && f.power(gpu, &value) == 0) result["power"] = 1e-3 * value;
  if (f.clock != nullptr && f.clock(gpu, clock_sm, &value) == 0) result["clock_sm"] = 1e6 * value;
  if (f.clock != nullptr && f.clock(gpu, clock_memory, &value) == 0) {
    result["clock_memory"] = 1e6 * value;
  }
  unsigned long long bits = 0;
  if (f.clock_reasons != nullptr && f.clock_reasons(gpu, &bits) == 0) {
    result["clock_reasons"] = Json::array();
    for (const auto& [bit, name] : clock_reasons) {
      if ((bits & bit) != 0) result["clock_reasons"].push_back(name);
    }
  }
  return result;
}

std::optional<bool> Nvml::mig(const std::string& device) const {
  void* gpu = handle(device);
  unsigned int current = 0, pending = 0;
  if (gpu == nullptr || functions_.mig_mode == nullptr) return std::nullopt;
  if (functions_.mig_mode(gpu, &current, &pending) != 0) return std::nullopt;
  return current == 1;
}

std::optional<std::string> Nvml::virtualization(const std::string& device) const {
  static constexpr const char* names[] = {"none", "passthrough", "vgpu", "host_vgpu", "host_vsga"};
  void* gpu = handle(device);
  int mode = -1;
  if (gpu == nullptr || functions_.virtualization_mode == nullptr) return std::nullopt;
  if (functions_.virtualization_mode(gpu, &mode) != 0 || mode < 0 || mode > 4) return std::nullopt;
  return names[mode];
}

std::optional<bool> Nvml::persistence(const std::string& device) const {
  void* gpu = handle(device);
  int mode = 0;
  if (gpu == nullptr || functions_.persistence_mode == nullptr) return std::nullopt;
  if (functions_.persistence_mode(gpu, &mode) != 0) return std::nullopt;
  return mode == 1;
}

}  // namespace warpmeter
