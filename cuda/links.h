// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace warpmeter {

// What lies between two GPUs, in nvidia-smi's words, and who says so.
struct LinkName {
  std::string name = "unknown";  // "NV#", "PIX", "PXB", "PHB", "NODE", "SYS" or "unknown"
  std::string source;
};

// By NVML; without it by the PCI tree, which cannot show NVLink. Arguments are normal PCI ids.
LinkName name_link(const std::string& from, const std::string& to);

// The PCI path alone: PIX through at most one bridge (switch), PXB through several, PHB through one
// host bridge, NODE between host bridges of one NUMA node, SYS across NUMA nodes. "unknown" if a
// device or, between host bridges, a node is not shown. `sysfs` is /sys or, in tests, a copy.
LinkName name_pci_link(const std::string& from, const std::string& to,
                       const std::filesystem::path& sysfs = "/sys");

// The NUMA node of a PCI device; null if the system does not say (-1 on machines with one node).
std::optional<int> pci_numa_node(const std::string& device,
                                 const std::filesystem::path& sysfs = "/sys");

// The first line of a file of the device ("max_link_speed"); null if there is none.
std::optional<std::string> pci_attribute(const std::string& device, const std::string& name,
                                         const std::filesystem::path& sysfs = "/sys");

}  // namespace warpmeter
