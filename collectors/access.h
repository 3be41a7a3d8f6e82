// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// What stands between this process and the GPU's counters. Judged by pure functions over readings,
// which tests plant.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectors/driver.h"

namespace warpmeter {

// Kinds of collectors, as bits of a set.
enum Access : unsigned {
  access_timeline = 1,
  access_range = 2,
  access_pm = 4,
  access_pc = 8,
  access_gpm = 16,
};
constexpr unsigned access_counters = access_range | access_pm | access_pc;
constexpr unsigned access_cupti = access_counters | access_timeline;
constexpr unsigned access_all = access_cupti | access_gpm;

// What one probe of PM sampling said (probe.h).
struct ProbeResult {
  std::string device;  // UUID; empty: before there was a device
  int error = 0;       // CUptiResult; 0 and no `why`: the counters are granted
  std::string why;     // one line; empty if granted
};

// What NVML says of a device.
struct GpuReading {
  std::string uuid;
  std::optional<bool> mig, gpm;               // null: not told
  std::optional<std::string> virtualization;  // "none", "passthrough", "vgpu", ...
};

struct AccessReadings {
  DriverGate driver;
  std::optional<std::string> driver_parameters;  // /proc/driver/nvidia/params; null: no such file
  std::string process_status;                    // /proc/self/status
  std::string user_map;                          // /proc/self/uid_map
  unsigned user = 0;
  std::string kernel;             // /proc/sys/kernel/osrelease
  bool mig_capabilities = false;  // /dev/nvidia-caps is there
  bool mps = false;               // the control pipe of an MPS daemon is there
  bool emulated = false;          // the device is warpmeter's emulated GPU
  std::string maps;               // /proc/self/maps
  std::map<std::string, std::string> environment;
  std::vector<std::string> processes;  // names of those that are visible
  std::string own_library;             // warpmeter's injected library; empty: not known

  std::string cupti;           // the library that was opened, as the loader names it
  std::string cupti_why;       // or why there is none
  unsigned cupti_version = 0;  // cuptiGetVersion: 130001 is CUDA 13.0 Update 1

  std::string nvml_why;  // empty if there is NVML
  std::vector<GpuReading> gpus;
  std::optional<bool> confidential, developer_tools;  // null: not told

  std::vector<ProbeResult> probes;  // empty: not probed
};

// One thing that was looked at. It takes the collectors in `blocks` away; with none blocked and a
// remedy it is a caveat.
struct Finding {
  std::string subject;  // "driver", "CUPTI", "permission", ...
  std::string detail;
  std::string remedy;  // empty: nothing to do
  unsigned blocks = 0;
};

// Each of the readings judged, in the order in which the chain breaks: driver, CUPTI, other tools,
// device, permission, probe, GPM.
std::vector<Finding> judge_access(const AccessReadings& readings);

// The parts of it; none: nothing to say.
Finding judge_driver(const AccessReadings& readings);
std::vector<Finding> judge_cupti(const AccessReadings& readings);
std::vector<Finding> judge_other_tools(const AccessReadings& readings);
std::vector<Finding> judge_platform(const AccessReadings& readings);
Finding judge_permission(const AccessReadings& readings);
Finding judge_gpm(const AccessReadings& readings);

// Files named libcupti.so* in the text of /proc/PID/maps, each once.
std::vector<std::string> mapped_cupti(const std::string& maps);

// The readings of this process. Asks NVML and opens CUPTI, but calls nothing of CUPTI that needs a
// driver. Never throws. `probes` stays empty.
AccessReadings read_access(DriverGate driver, std::string own_library = "");

}  // namespace warpmeter
