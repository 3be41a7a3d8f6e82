// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/nvml.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "core/error.h"
#include "cuda/nvml_api.h"

namespace warpmeter {
namespace {

// Active links of `device`: how many lead straight to `to`, how many to a switch.
struct LinkCount {
  int direct = 0;
  int switched = 0;
};

LinkCount count_links(const NvmlApi& f, void* device, const std::string& to) {
  LinkCount count;
  if (f.link_state == nullptr) return count;
  for (unsigned int link = 0; link < nvml_max_nv_links; ++link) {
    int active = 0;
    if (f.link_state(device, link, &active) != 0 || active == 0) continue;
    int type = -1;
    if (f.link_remote_type != nullptr) (void)f.link_remote_type(device, link, &type);
    if (type == nvml_link_device_switch) {
      ++count.switched;
      continue;
    }
    NvmlPciInfo remote{};
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
  const NvmlApi* api = open_nvml(why);
  if (api == nullptr) return nullptr;
  static const Nvml nvml(*api);
  return &nvml;
}

void* Nvml::handle(const std::string& device) const {
  void* result = nullptr;
  return api_.handle_by_pci(device.c_str(), &result) == 0 ? result : nullptr;
}

std::optional<std::string> Nvml::link(const std::string& from, const std::string& to) const {
  void* a = handle(from);
  void* b = handle(to);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const LinkCount forward = count_links(api_, a, to);
  if (forward.direct > 0) return fmt::format("NV{}", forward.direct);
  // Through switches every link reaches every GPU: the narrower end counts.
  const int switched = std::min(forward.switched, count_links(api_, b, from).switched);
  if (switched > 0) return fmt::format("NV{}", switched);
  int level = -1;
  if (api_.common_ancestor == nullptr || api_.common_ancestor(a, b, &level) != 0) {
    return std::nullopt;
  }
  return ancestor_name(level);
}

Json Nvml::state(const std::string& device) const {
  Json result = Json::object();
  void* gpu = handle(device);
  if (gpu == nullptr) return result;
  const NvmlApi& f = api_;
  unsigned int value = 0;
  if (f.temperature != nullptr && f.temperature(gpu, nvml_temperature_gpu, &value) == 0) {
    result["temperature"] = 273.15 + value;
  }
  if (f.power != nullptr && f.power(gpu, &value) == 0) result["power"] = 1e-3 * value;
  if (f.clock != nullptr && f.clock(gpu, nvml_clock_sm, &value) == 0)
    result["clock_sm"] = 1e6 * value;
  if (f.clock != nullptr && f.clock(gpu, nvml_clock_memory, &value) == 0) {
    result["clock_memory"] = 1e6 * value;
  }
  unsigned long long bits = 0;
  if (f.clock_reasons != nullptr && f.clock_reasons(gpu, &bits) == 0) {
    result["clock_reasons"] = Json::array();
    for (const auto& [bit, name] : nvml_clock_reasons) {
      if ((bits & bit) != 0) result["clock_reasons"].push_back(name);
    }
  }
  return result;
}

std::optional<bool> Nvml::mig(const std::string& device) const {
  void* gpu = handle(device);
  unsigned int current = 0, pending = 0;
  if (gpu == nullptr || api_.mig_mode == nullptr) return std::nullopt;
  if (api_.mig_mode(gpu, &current, &pending) != 0) return std::nullopt;
  return current == 1;
}

std::optional<std::string> Nvml::virtualization(const std::string& device) const {
  static constexpr const char* names[] = {"none", "passthrough", "vgpu", "host_vgpu", "host_vsga"};
  void* gpu = handle(device);
  int mode = -1;
  if (gpu == nullptr || api_.virtualization_mode == nullptr) return std::nullopt;
  if (api_.virtualization_mode(gpu, &mode) != 0 || mode < 0 || mode > 4) return std::nullopt;
  return names[mode];
}

std::optional<bool> Nvml::persistence(const std::string& device) const {
  void* gpu = handle(device);
  int mode = 0;
  if (gpu == nullptr || api_.persistence_mode == nullptr) return std::nullopt;
  if (api_.persistence_mode(gpu, &mode) != 0) return std::nullopt;
  return mode == 1;
}

}  // namespace warpmeter
