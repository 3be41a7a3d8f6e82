// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/links.h"

#include <algorithm>
#include <fstream>
#include <vector>

#include "cuda/nvml.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

fs::path device_folder(const std::string& device, const fs::path& sysfs) {
  return sysfs / "bus/pci/devices" / device;
}

// "pci0000:00", "0000:00:01.0", "0000:01:00.0": from the host bridge to the device. Empty if the
// device is not shown.
std::vector<std::string> pci_path(const std::string& device, const fs::path& sysfs) {
  std::error_code error;
  const fs::path real = fs::canonical(device_folder(device, sysfs), error);
  if (error) return {};
  std::vector<std::string> parts;
  for (const fs::path& part : real) {
    const bool root =
        part.string().rfind("pci", 0) == 0 && part.string().find(':') != std::string::npos;
    if (root || !parts.empty()) parts.push_back(part.string());
  }
  return parts;
}

}  // namespace

std::optional<std::string> pci_attribute(const std::string& device, const std::string& name,
                                         const fs::path& sysfs) {
  std::ifstream in(device_folder(device, sysfs) / name);
  std::string line;
  if (!std::getline(in, line)) return std::nullopt;
  return line;
}

std::optional<int> pci_numa_node(const std::string& device, const fs::path& sysfs) {
  const auto text = pci_attribute(device, "numa_node", sysfs);
  if (!text) return std::nullopt;
  try {
    const int node = std::stoi(*text);
    return node < 0 ? std::nullopt : std::optional(node);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

LinkName name_pci_link(const std::string& from, const std::string& to, const fs::path& sysfs) {
  const std::string source = "PCI tree in /sys (does not show NVLink)";
  const auto a = pci_path(from, sysfs);
  const auto b = pci_path(to, sysfs);
  if (a.empty() || b.empty()) return {"unknown", "no PCI path in /sys"};
  const auto [left, right] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  const auto common = left - a.begin();
  if (common == 0) {
    const auto node_a = pci_numa_node(from, sysfs);
    const auto node_b = pci_numa_node(to, sysfs);
    if (!node_a || !node_b) return {"unknown", "NUMA nodes are not shown in /sys"};
    return {*node_a == *node_b ? "NODE" : "SYS", source};
  }
  if (common == 1) return {"PHB", source};  // only the host bridge is shared
  // Below the shared bridge a device hangs on one downstream port of the same switch, or deeper.
  const bool near = a.end() - left <= 2 && b.end() - right <= 2;
  return {near ? "PIX" : "PXB", source};
}

LinkName name_link(const std::string& from, const std::string& to) {
  std::string why;
  if (const Nvml* nvml = Nvml::open(why)) {
    if (const auto name = nvml->link(from, to)) return {*name, "NVML"};
  }
  return name_pci_link(from, to);
}

}  // namespace warpmeter
