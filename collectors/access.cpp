// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "core/cuda_text.h"

namespace warpmeter {
namespace {

// The rest of the line that starts with `key`, without blanks around it; null if there is none.
std::optional<std::string> value_of(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \t") - begin + 1);
  }
  return std::nullopt;
}

// CAP_SYS_ADMIN (bit 21) or CAP_PERFMON (bit 38) is in effect.
bool has_capability(const std::string& process_status) {
  const std::string text = value_of(process_status, "CapEff:").value_or("");
  const std::uint64_t bits = std::strtoull(text.c_str(), nullptr, 16);
  return ((bits >> 21 | bits >> 38) & 1) != 0;
}

// False in a user namespace, where capabilities are not those that the driver asks for.
bool in_first_namespace(const std::string& user_map) {
  std::istringstream in(user_map);
  std::uint64_t inside = 1, outside = 1, count = 0;
  in >> inside >> outside >> count;
  return inside == 0 && outside == 0 && count == 4294967295;
}

constexpr const char* ask_administrator =
    "run as root or with CAP_PERFMON, or have the administrator load the driver with "
    "NVreg_RestrictProfilingToAdminUsers=0";

}  // namespace

Finding judge_driver(const AccessReadings& r) {
  if (!r.driver.passed())
    return {
        "CUDA driver",
        r.emulated ? "an emulated GPU without an emulated driver: " + r.driver.why : r.driver.why,
        "", access_all};
  std::string devices;
  for (const TargetDevice& device : r.driver.devices)
    devices += fmt::format("{}{} (compute capability {}.{}, {} SMs)", devices.empty() ? "" : "; ",
                           device.name, device.major, device.minor, device.multiprocessors);
  return {"CUDA driver", fmt::format("CUDA {}: {}", cuda_version_text(r.driver.version), devices),
          "", 0};
}

Finding judge_permission(const AccessReadings& r) {
  const std::string subject = "permission";
  if (r.emulated) return {subject, "an emulated GPU: nobody has to permit its counters", "", 0};
  if (!r.driver_parameters)
    return {subject, "not known: /proc/driver/nvidia/params is not there",
            "mount /proc/driver/nvidia into the container", 0};
  const auto admin_only = value_of(*r.driver_parameters, "RmProfilingAdminOnly:");
  if (!admin_only)
    return {subject, "not known: this driver's parameters have no RmProfilingAdminOnly",
            "install a driver of 580 or newer", 0};
  if (*admin_only == "0") return {subject, "counters are open to all users", "", 0};
  if (!has_capability(r.process_status))
    return {subject,
            fmt::format("RmProfilingAdminOnly is {}, and user {} has neither CAP_PERFMON nor "
                        "CAP_SYS_ADMIN; the timeline needs no permission",
                        *admin_only, r.user),
            ask_administrator, access_counters};
  if (!in_first_namespace(r.user_map))
    return {subject,
            "counters are for administrators; this process is one in its user namespace only, "
            "which the driver may not accept",
            ask_administrator, 0};
  return {subject, "counters are for administrators, which this process is", "", 0};
}

std::vector<Finding> judge_platform(const AccessReadings& r) {
  std::vector<Finding> findings;
  if (r.emulated) return findings;
  if (r.kernel.find("icrosoft") != std::string::npos)
    findings.push_back({"WSL", "CUPTI may refuse counters here (WSL_DEVICE_NOT_SUPPORTED)",
                        "use native Linux for counters", 0});
  if (r.mps)
    findings.push_back({"MPS",
                        "an MPS daemon runs: ranges and PC samples are not supported under it, and "
                        "PM samples hold all of its clients",
                        "stop it: echo quit | nvidia-cuda-mps-control", access_range | access_pc});
  if (r.confidential.value_or(false) && !r.developer_tools.value_or(false))
    findings.push_back({"confidential computing",
                        "is on: CUPTI neither traces nor counts in this mode",
                        "switch it off, or its developer-tools mode on", access_cupti});
  for (const GpuReading& gpu : r.gpus) {
    if (gpu.mig.value_or(false))
      findings.push_back(
          {"MIG",
           fmt::format("{} is divided: counters of L2, memory and links may hold its "
                       "neighbours' traffic, and PM sampling may be refused{}",
                       gpu.uuid,
                       r.mig_capabilities ? "" : "; /dev/nvidia-caps is not visible here"),
           "measure with MIG off (nvidia-smi -mig 0)", 0});
    if (gpu.virtualization.value_or("").find("vgpu") != std::string::npos)
      findings.push_back({"virtual GPU",
                          gpu.uuid + " is a virtual GPU, whose hypervisor must allow profiling",
                          "have its administrator allow it, or use a passed-through GPU", 0});
  }
  return findings;
}

Finding judge_gpm(const AccessReadings& r) {
  const std::string subject = "GPM";
  if (r.emulated) return {subject, "an emulated GPU has no NVML", "", access_gpm};
  if (!r.nvml_why.empty())
    return {subject, r.nvml_why, "NVML comes with the driver; mount it into the container",
            access_gpm};
  for (const GpuReading& gpu : r.gpus)
    if (gpu.gpm.value_or(false)) return {subject, "NVML samples counters of " + gpu.uuid, "", 0};
  return {subject, "NVML has no counters of these devices: they need Hopper or newer", "",
          access_gpm};
}

std::vector<Finding> judge_access(const AccessReadings& r) {
  std::vector<Finding> findings = {judge_driver(r)};
  const auto add = [&](const std::vector<Finding>& more) {
    findings.insert(findings.end(), more.begin(), more.end());
  };
  add(judge_cupti(r));
  add(judge_other_tools(r));
  add(judge_platform(r));
  findings.push_back(judge_permission(r));
  const bool all_granted =
      !r.probes.empty() && std::all_of(r.probes.begin(), r.probes.end(),
                                       [](const ProbeResult& p) { return p.why.empty(); });
  if (all_granted) {
    // What was tried counts more than what was read.
    findings.back().blocks = 0;
    findings.push_back({"probe", "PM sampling can be switched on", "", 0});
  }
  for (const ProbeResult& probe : r.probes) {
    if (probe.why.empty()) continue;
    constexpr int insufficient_privileges = 35;
    const unsigned blocks =
        probe.error == insufficient_privileges ? access_counters : unsigned{access_pm};
    findings.push_back({"probe", probe.device.empty() ? probe.why : probe.device + ": " + probe.why,
                        probe.error == insufficient_privileges ? ask_administrator : "", blocks});
  }
  findings.push_back(judge_gpm(r));
  return findings;
}

}  // namespace warpmeter
