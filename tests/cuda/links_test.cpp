// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "cuda/links.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/error.h"
#include "cuda/nvml.h"

namespace warpmeter {
namespace {

namespace fs = std::filesystem;

// A /sys of our own: devices as folders below their bridges, and the links to them.
class FakeSys {
 public:
  FakeSys() {
    std::string name = (fs::temp_directory_path() / "warpmeter_sys_XXXXXX").string();
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "bus/pci/devices");
  }
  ~FakeSys() { fs::remove_all(root_); }

  void add(const std::string& path, int numa_node) {
    const fs::path folder = root_ / "devices" / path;
    fs::create_directories(folder);
    fs::create_directory_symlink(folder, root_ / "bus/pci/devices" / folder.filename());
    std::ofstream(folder / "numa_node") << numa_node << "\n";
  }
  const fs::path& root() const { return root_; }

 private:
  fs::path root_;
};

const std::string a = "0000:07:00.0";
const std::string b = "0000:08:00.0";

std::string name(const FakeSys& sys) { return name_pci_link(a, b, sys.root()).name; }

TEST(PciLink, ThroughOneSwitchIsPix) {
  FakeSys sys;
  sys.add("pci0000:00/0000:00:01.0/0000:05:00.0/0000:06:00.0/" + a, 0);
  sys.add("pci0000:00/0000:00:01.0/0000:05:00.0/0000:06:01.0/" + b, 0);
  EXPECT_EQ(name(sys), "PIX");
}

TEST(PciLink, ThroughSeveralSwitchesIsPxb) {
  FakeSys sys;
  sys.add("pci0000:00/0000:00:01.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0/" + a, 0);
  sys.add("pci0000:00/0000:00:01.0/0000:02:00.0/0000:03:01.0/0000:06:00.0/0000:06:01.0/" + b, 0);
  EXPECT_EQ(name(sys), "PXB");
}

TEST(PciLink, ThroughOneHostBridgeIsPhb) {
  FakeSys sys;
  sys.add("pci0000:00/0000:00:01.0/" + a, 0);
  sys.add("pci0000:00/0000:00:02.0/" + b, 0);
  EXPECT_EQ(name(sys), "PHB");
}

TEST(PciLink, BetweenHostBridgesTheNumaNodeDecides) {
  FakeSys same;
  same.add("pci0000:00/0000:00:01.0/" + a, 1);
  same.add("pci0000:40/0000:40:01.0/" + b, 1);
  EXPECT_EQ(name(same), "NODE");
  FakeSys other;
  other.add("pci0000:00/0000:00:01.0/" + a, 0);
  other.add("pci0000:40/0000:40:01.0/" + b, 1);
  EXPECT_EQ(name(other), "SYS");
}

TEST(PciLink, WhatTheSystemDoesNotShowIsUnknown) {
  FakeSys nodes;
  nodes.add("pci0000:00/0000:00:01.0/" + a, -1);
  nodes.add("pci0000:40/0000:40:01.0/" + b, -1);
  EXPECT_EQ(name(nodes), "unknown");
  FakeSys device;
  device.add("pci0000:00/0000:00:01.0/" + a, 0);
  EXPECT_EQ(name(device), "unknown");
}

TEST(PciNumaNode, IsReadAndMinusOneMeansNotKnown) {
  FakeSys sys;
  sys.add("pci0000:00/" + a, 3);
  sys.add("pci0000:00/" + b, -1);
  EXPECT_EQ(pci_numa_node(a, sys.root()), 3);
  EXPECT_EQ(pci_numa_node(b, sys.root()), std::nullopt);
  EXPECT_EQ(pci_numa_node("0000:09:00.0", sys.root()), std::nullopt);
}

TEST(PciId, HasOneSpelling) {
  EXPECT_EQ(normal_pci_id("0000:A7:00.0"), "0000:a7:00.0");
  EXPECT_EQ(normal_pci_id("00000000:A7:00.0"), "0000:a7:00.0");
  EXPECT_EQ(normal_pci_id("0001:0B:1f.3"), "0001:0b:1f.3");
  EXPECT_THROW(normal_pci_id("A7:00.0"), InputError);
  EXPECT_THROW(normal_pci_id("0000:07:00.0 and more"), InputError);
}

}  // namespace
}  // namespace warpmeter
