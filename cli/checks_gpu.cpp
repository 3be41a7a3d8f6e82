// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

#include "cli/checks.h"
#include "cli/devices.h"
#include "cli/emulate.h"
#include "collectors/cupti_library.h"
#include "collectors/ladder.h"
#include "collectors/probe.h"

namespace warpmeter {
namespace {

Check check_kernel_driver() {
  std::ifstream in("/proc/driver/nvidia/version");
  for (std::string line; std::getline(in, line);)
    if (line.find("NVRM") != std::string::npos) return {"driver", "ok", line, ""};
  if (emulation_asked_for()) return {"driver", "ok", "an emulated GPU needs none", ""};
  return {"driver", "missing", "no NVIDIA driver: /proc/driver/nvidia does not exist",
          "install a driver that supports CUDA 13 (580 or newer); the host CPU can be measured "
          "meanwhile"};
}

Check check_devices() {
  std::string why_none;
  const auto gpus = find_gpus(why_none);
  if (gpus.empty()) return {"GPUs", "missing", why_none, ""};
  std::string names;
  for (const Device& gpu : gpus)
    names += fmt::format("{}{}: {}", names.empty() ? "" : "; ", to_string(gpu),
                         fact_text(gpu.facts, "name"));
  return {"GPUs", "ok", names, ""};
}

Check check_nvml(const AccessReadings& readings) {
  if (readings.nvml_why.empty()) return {"NVML", "ok", "libnvidia-ml.so.1 starts", ""};
  return {"NVML", "missing", readings.nvml_why,
          "it comes with the driver; without it link names and power are unknown"};
}

Check to_check(const Finding& finding) {
  const char* status = finding.blocks != 0 ? "missing" : finding.remedy.empty() ? "ok" : "limited";
  return {finding.subject, status, finding.detail, finding.remedy};
}

// What of the profile's sources is left, and what the others would have told.
void add_ladder(const std::vector<Finding>& findings, std::vector<Check>& checks) {
  const Ladder ladder = choose_ladder(findings, access_cupti);
  checks.push_back({"counters", ladder.steps.empty() ? "ok" : "limited", ladder.rung, ""});
  for (const LadderStep& step : ladder.steps)
    checks.push_back({fmt::format("without {}", to_string(step.collector)), "missing",
                      fmt::format("not to be told: {}", fmt::join(step.lost, ", ")), ""});
}

}  // namespace

std::vector<Check> check_gpus() {
  // First, because CUDA, once started, does not survive the fork of the probe.
  std::vector<ProbeResult> probes = probe_counters();
  AccessReadings readings = read_access(pass_driver_gate());
  readings.emulated = readings.emulated || emulation_asked_for();
  if (readings.driver.passed()) readings.probes = std::move(probes);
  const std::vector<Finding> findings = judge_access(readings);

  std::vector<Check> checks = {check_kernel_driver(), check_devices(), check_nvml(readings)};
  for (const Finding& finding : findings) checks.push_back(to_check(finding));
  checks.push_back({"CUPTI places", "ok",
                    fmt::format("tried in this order: {}", fmt::join(cupti_places(), ", ")), ""});
  add_ladder(findings, checks);
  return checks;
}

}  // namespace warpmeter
