// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// CUPTI, and the other tools that may hold it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "collectors/access.h"
#include "core/cuda_text.h"

namespace warpmeter {
namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Files of the text of /proc/PID/maps, each once, in its order.
std::vector<std::string> mapped_files(const std::string& maps) {
  std::vector<std::string> files;
  std::istringstream in(maps);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find('/');
    if (begin == std::string::npos) continue;
    std::string file = line.substr(begin);
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  return files;
}

// Marks that a tool leaves in a process: a library whose name starts so, or a variable.
struct Tool {
  const char* name;
  std::vector<std::string> libraries, variables;
};

const std::vector<Tool>& tools() {
  static const std::vector<Tool> all = {
      {"Nsight Systems", {"libToolsInjection"}, {"NSYS_PROFILING_SESSION_ID", "QUADD_INJECTION_"}},
      {"Nsight Compute",
       {"libcuda-injection.so"},
       {"NV_NSIGHT_INJECTION_", "NV_COMPUTE_PROFILER_"}},
      {"Compute Sanitizer", {"libsanitizer-"}, {"NV_SANITIZER_INJECTION_"}},
  };
  return all;
}

bool starts_with_one(const std::string& text, const std::vector<std::string>& starts) {
  return std::any_of(starts.begin(), starts.end(),
                     [&](const std::string& start) { return text.rfind(start, 0) == 0; });
}

// What gives `tool` away; empty if nothing does.
std::string trace_of(const Tool& tool, const AccessReadings& r,
                     const std::vector<std::string>& files) {
  for (const std::string& file : files)
    if (starts_with_one(base_name(file), tool.libraries)) return file + " is loaded";
  for (const auto& [name, value] : r.environment) {
    if (starts_with_one(name, tool.variables)) return name + " is set";
    const bool injects = name == "CUDA_INJECTION64_PATH" || name == "NVTX_INJECTION64_PATH";
    if (injects && starts_with_one(base_name(value), tool.libraries))
      return fmt::format("{} is {}", name, value);
  }
  return "";
}

// Of cuptiGetVersion, in the numbering of cuDriverGetVersion: 13000 of 130001. 0 of the numbers
// before CUDA 13, which were not the toolkit's.
int toolkit_of(unsigned cupti_version) {
  if (cupti_version < 130000) return 0;
  return static_cast<int>(cupti_version / 10000 * 1000 + cupti_version / 100 % 100 * 10);
}

std::optional<Finding> judge_skew(const AccessReadings& r) {
  const int cupti = toolkit_of(r.cupti_version), driver = r.driver.version;
  if (cupti == 0 || !r.driver.passed() || cupti <= driver) return std::nullopt;
  const bool other_major = cupti / 1000 != driver / 1000;
  return Finding{"CUPTI and driver",
                 fmt::format("CUPTI {} is newer than the driver ({}){}", cuda_version_text(cupti),
                             cuda_version_text(driver),
                             other_major ? "" : " and may answer NOT_INITIALIZED (15)"),
                 "update the driver, or name an older CUPTI with WARPMETER_CUPTI",
                 other_major ? access_cupti : 0U};
}

}  // namespace

std::vector<std::string> mapped_cupti(const std::string& maps) {
  std::vector<std::string> files = mapped_files(maps);
  std::erase_if(
      files, [](const std::string& file) { return base_name(file).rfind("libcupti.so", 0) != 0; });
  return files;
}

std::vector<Finding> judge_cupti(const AccessReadings& r) {
  if (!r.cupti_why.empty()) return {{"CUPTI", r.cupti_why, "", access_cupti}};
  std::vector<Finding> findings;
  const std::vector<std::string> copies = mapped_cupti(r.maps);
  if (copies.size() > 1)
    findings.push_back(
        {"CUPTI", fmt::format("the process holds two: {}", fmt::join(copies, " and ")),
         "let all use one: set WARPMETER_CUPTI to the first, or uninstall one", access_cupti});
  else
    findings.push_back({"CUPTI", fmt::format("{}, version {}", r.cupti, r.cupti_version), "", 0});
  if (const auto skew = judge_skew(r)) findings.push_back(*skew);
  return findings;
}

std::vector<Finding> judge_other_tools(const AccessReadings& r) {
  std::vector<Finding> findings;
  const std::vector<std::string> files = mapped_files(r.maps);
  bool known_tool = false;
  for (const Tool& tool : tools()) {
    const std::string trace = trace_of(tool, r, files);
    if (trace.empty()) continue;
    known_tool = true;
    findings.push_back({"other tools", fmt::format("{} is at work here: {}", tool.name, trace),
                        "run without it: CUPTI serves one tool of a process", access_cupti});
  }
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const auto entry = r.environment.find(name);
    if (known_tool || entry == r.environment.end() || entry->second.empty() ||
        entry->second == r.own_library)
      continue;
    findings.push_back({"other tools",
                        fmt::format("{} is {}, which may hold CUPTI", name, entry->second),
                        fmt::format("unset {}", name), 0});
  }
  for (const char* name : {"nv-hostengine", "dcgm-exporter"}) {
    if (std::find(r.processes.begin(), r.processes.end(), name) == r.processes.end()) continue;
    findings.push_back({"other tools",
                        fmt::format("DCGM runs ({}); before Hopper its profiling fields hold the "
                                    "counters for all",
                                    name),
                        "dcgmi profile --pause, and --resume afterwards", 0});
    break;
  }
  return findings;
}

}  // namespace warpmeter
