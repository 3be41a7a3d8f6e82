// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <dlfcn.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "cli/checks.h"
#include "cli/devices.h"

namespace warpmeter {
namespace {

std::string file_text(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string line_with(const std::string& text, const std::string& key) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.find(key) != std::string::npos) return line;
  }
  return "";
}

bool loads(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

Check check_driver() {
  const std::string version = line_with(file_text("/proc/driver/nvidia/version"), "NVRM");
  if (!version.empty() && loads("libcuda.so.1")) return {"driver", "ok", version, ""};
  if (!version.empty())
    return {"driver", "missing", version + ", but libcuda.so.1 does not load",
            "install the user-mode driver of the same version, or mount it into the container"};
  return {"driver", "missing", "no NVIDIA driver: /proc/driver/nvidia does not exist",
          "install a driver that supports CUDA 13 (580 or newer); the host CPU can be measured "
          "meanwhile"};
}

// Counter permission: the driver's module option, or CAP_SYS_ADMIN (bit 21) or CAP_PERFMON (bit 38)
// of this process.
Check check_counter_permission() {
  const std::string parameters = file_text("/proc/driver/nvidia/params");
  if (parameters.empty()) return {"GPU counters", "missing", "no driver", ""};
  const bool admin_only =
      line_with(parameters, "RmProfilingAdminOnly").find('1') != std::string::npos;
  const std::string effective = line_with(file_text("/proc/self/status"), "CapEff:");
  std::uint64_t bits = 0;
  if (!effective.empty()) bits = std::stoull(effective.substr(7), nullptr, 16);
  const bool capable = ((bits >> 21) & 1) != 0 || ((bits >> 38) & 1) != 0;
  if (!admin_only || capable)
    return {"GPU counters", "ok",
            admin_only ? "for administrators, which this process is" : "for all users", ""};
  return {"GPU counters", "missing",
          "RmProfilingAdminOnly is 1 and this process has no CAP_SYS_ADMIN",
          "load the module with NVreg_RestrictProfilingToAdminUsers=0, or run as root; timing does "
          "not need counters"};
}

Check check_library(const char* name, const char* library, const char* remedy) {
  if (loads(library)) return {name, "ok", fmt::format("{} loads", library), ""};
  return {name, "missing", fmt::format("{} does not load", library), remedy};
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

}  // namespace

std::vector<Check> check_gpus() {
  return {check_driver(), check_devices(), check_counter_permission(),
          check_library(
              "CUPTI", "libcupti.so.13",
              "add the toolkit's extras/CUPTI/lib64 to LD_LIBRARY_PATH; no benchmark needs it"),
          check_library("NVML", "libnvidia-ml.so.1",
                        "it comes with the driver; without it link names and power are unknown")};
}

}  // namespace warpmeter
