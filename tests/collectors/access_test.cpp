// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/access.h"

#include <gtest/gtest.h>

#include "access_support.h"

namespace warpmeter {
namespace {

unsigned blocked(const AccessReadings& r) {
  unsigned all = 0;
  for (const Finding& finding : judge_access(r)) all |= finding.blocks;
  return all;
}

// The finding of `subject` that says `text`; none: null.
const Finding* find(const std::vector<Finding>& findings, const std::string& subject,
                    const std::string& text) {
  for (const Finding& finding : findings)
    if (finding.subject == subject && finding.detail.find(text) != std::string::npos)
      return &finding;
  return nullptr;
}

// That the readings say so, block that and nothing more, and name a remedy.
void expect(const AccessReadings& r, const std::string& subject, const std::string& text,
            unsigned blocks, const std::string& remedy) {
  const auto findings = judge_access(r);
  const Finding* finding = find(findings, subject, text);
  ASSERT_NE(finding, nullptr) << subject << ": " << text;
  EXPECT_EQ(finding->blocks, blocks) << finding->detail;
  EXPECT_EQ(blocked(r), blocks) << finding->detail;
  EXPECT_NE(finding->remedy.find(remedy), std::string::npos) << finding->remedy;
  EXPECT_EQ(finding->remedy.empty(), remedy.empty()) << finding->remedy;
}

TEST(Access, AllIsWell) {
  for (const Finding& finding : judge_access(good())) {
    EXPECT_EQ(finding.blocks, 0u) << finding.detail;
    EXPECT_EQ(finding.remedy, "") << finding.detail;
  }
}

TEST(Access, WithoutADriverNothingGoes) {
  AccessReadings r = good();
  r.driver = {};
  r.driver.why = "no CUDA driver: planted";
  expect(r, "CUDA driver", "no CUDA driver: planted", access_all, "");
  r.emulated = true;
  EXPECT_NE(find(judge_access(r), "CUDA driver", "an emulated GPU without an emulated driver"),
            nullptr);
}

TEST(Permission, OpenAdministratorOrNone) {
  AccessReadings r = good();
  expect(r, "permission", "open to all users", 0, "");
  r.driver_parameters = "RmProfilingAdminOnly: 1\n";
  expect(r, "permission", "RmProfilingAdminOnly is 1, and user 1000 has neither", access_counters,
         "NVreg_RestrictProfilingToAdminUsers=0");
  for (const char* capability : {"0000000000200000", "0000004000000000"}) {  // bits 21 and 38
    r.process_status = std::string("CapEff:\t") + capability + "\n";
    expect(r, "permission", "which this process is", 0, "");
  }
  for (const char* other :
       {"0000000000100000", "0000000000400000", "0000002000000000", "0000008000000000"}) {
    r.process_status = std::string("CapEff:\t") + other + "\n";
    EXPECT_EQ(blocked(r), access_counters) << other;
  }
}

TEST(Permission, InAUserNamespaceIsACaveat) {
  AccessReadings r = good();
  r.driver_parameters = "RmProfilingAdminOnly: 1\n";
  r.process_status = "CapEff:\t000001ffffffffff\n";
  r.user_map = "         0       1000          1\n";
  expect(r, "permission", "in its user namespace only", 0, "run as root");
}

TEST(Permission, WhatIsNotKnownIsSaid) {
  AccessReadings r = good();
  r.driver_parameters = "RmProfilingAdmin: 1\n";
  expect(r, "permission", "have no RmProfilingAdminOnly", 0, "580 or newer");
  r.driver_parameters.reset();
  expect(r, "permission", "/proc/driver/nvidia/params is not there", 0, "mount");
  r.driver_parameters = "RmProfilingAdminOnly: 1\n";
  r.emulated = true;
  EXPECT_NE(find(judge_access(r), "permission", "an emulated GPU"), nullptr);
  EXPECT_EQ(blocked(r), access_gpm);
}

TEST(Platform, EachIsNamed) {
  AccessReadings r = good();
  r.kernel = "5.15.153.1-microsoft-standard-WSL2\n";
  expect(r, "WSL", "WSL_DEVICE_NOT_SUPPORTED", 0, "native Linux");
  r = good();
  r.mps = true;
  expect(r, "MPS", "an MPS daemon runs", access_range | access_pc, "nvidia-cuda-mps-control");
  r = good();
  r.confidential = true;
  expect(r, "confidential computing", "is on", access_cupti, "developer-tools mode");
  r.developer_tools = true;
  EXPECT_EQ(blocked(r), 0u);
  r = good();
  r.gpus[0].mig = true;
  expect(r, "MIG", "GPU-1 is divided", 0, "nvidia-smi -mig 0");
  EXPECT_NE(find(judge_access(r), "MIG", "/dev/nvidia-caps is not visible"), nullptr);
  r.mig_capabilities = true;
  EXPECT_EQ(find(judge_access(r), "MIG", "/dev/nvidia-caps is not visible"), nullptr);
  r = good();
  r.gpus[0].virtualization = "vgpu";
  expect(r, "virtual GPU", "GPU-1 is a virtual GPU", 0, "administrator");
  r.gpus[0].virtualization = "passthrough";
  EXPECT_EQ(find(judge_access(r), "virtual GPU", ""), nullptr);
}

TEST(Cupti, MissingOrTwice) {
  AccessReadings r = good();
  expect(r, "CUPTI", "/opt/cuda/lib64/libcupti.so.13, version 130001", 0, "");
  r.cupti_why = "no CUPTI: planted";
  expect(r, "CUPTI", "no CUPTI: planted", access_cupti, "");
  r = good();
  const std::string line = r.maps;
  r.maps += line;  // a second mapping of the same file
  EXPECT_EQ(blocked(r), 0u);
  r.maps += "7f2-7f3 r-xp 0 08:01 2  /venv/lib/python3.11/site-packages/libcupti.so.12\n";
  expect(r, "CUPTI",
         "/opt/cuda/lib64/libcupti.so.2025.3.1 and "
         "/venv/lib/python3.11/site-packages/libcupti.so.12",
         access_cupti, "WARPMETER_CUPTI");
  EXPECT_EQ(mapped_cupti(r.maps).size(), 2u);
  EXPECT_TRUE(
      mapped_cupti("7f2-7f3 r-xp 0 08:01 2 /x/libcuptix.so\n7f-8f rw-p 0 0 0 [heap]\n").empty());
}

TEST(Cupti, NewerThanTheDriver) {
  AccessReadings r = good();
  r.cupti_version = 130200;
  expect(r, "CUPTI and driver", "CUPTI 13.2 is newer than the driver (13.0) and may answer", 0,
         "update the driver");
  r.cupti_version = 140000;
  expect(r, "CUPTI and driver", "CUPTI 14.0 is newer than the driver (13.0)", access_cupti,
         "update the driver");
  r.driver.version = 14000;
  EXPECT_EQ(find(judge_access(r), "CUPTI and driver", ""), nullptr);
  r.cupti_version = 26;  // the numbering before CUDA 13
  r.driver.version = 13000;
  EXPECT_EQ(find(judge_access(r), "CUPTI and driver", ""), nullptr);
}

TEST(OtherTools, AreFoundByTheirLibraries) {
  const std::pair<const char*, const char*> cases[] = {
      {"/opt/nsys/target-linux-x64/libToolsInjection64.so", "Nsight Systems"},
      {"/opt/ncu/target/linux-desktop-glibc_2_11_3-x64/libcuda-injection.so", "Nsight Compute"},
      {"/usr/local/cuda/compute-sanitizer/libsanitizer-collection.so", "Compute Sanitizer"},
  };
  for (const auto& [library, tool] : cases) {
    AccessReadings r = good();
    r.maps += std::string("7f2-7f3 r-xp 0 08:01 2   ") + library + "\n";
    expect(r, "other tools", std::string(tool) + " is at work here: " + library, access_cupti,
           "run without it");
  }
}

TEST(OtherTools, AreFoundByTheirVariables) {
  const std::pair<const char*, const char*> cases[] = {
      {"NSYS_PROFILING_SESSION_ID", "Nsight Systems"},
      {"QUADD_INJECTION_PROXY", "Nsight Systems"},
      {"NV_NSIGHT_INJECTION_PORT_BASE", "Nsight Compute"},
      {"NV_COMPUTE_PROFILER_PERFWORKS_DIR", "Nsight Compute"},
      {"NV_SANITIZER_INJECTION_PORT_BASE", "Compute Sanitizer"},
  };
  for (const auto& [variable, tool] : cases) {
    AccessReadings r = good();
    r.environment[variable] = "1";
    expect(r, "other tools", std::string(tool) + " is at work here: " + variable + " is set",
           access_cupti, "run without it");
  }
}

TEST(OtherTools, InjectionVariablesOfOthers) {
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    AccessReadings r = good();
    r.own_library = "/opt/warpmeter/libwarpmeter_inject.so";
    r.environment[variable] = r.own_library;
    EXPECT_EQ(find(judge_access(r), "other tools", ""), nullptr);
    r.environment[variable] = "/opt/other/libx.so";
    expect(r, "other tools", std::string(variable) + " is /opt/other/libx.so", 0,
           std::string("unset ") + variable);
    r.environment[variable] = "/opt/nsys/libToolsInjection64.so";
    expect(r, "other tools", "Nsight Systems is at work here", access_cupti, "run without it");
    EXPECT_EQ(find(judge_access(r), "other tools", "may hold CUPTI"), nullptr);
  }
}

TEST(OtherTools, DcgmIsACaveat) {
  for (const char* process : {"nv-hostengine", "dcgm-exporter"}) {
    AccessReadings r = good();
    r.processes = {"bash", process};
    expect(r, "other tools", std::string("DCGM runs (") + process + ")", 0,
           "dcgmi profile --pause");
  }
}

TEST(Probe, CountsMoreThanWhatWasRead) {
  AccessReadings r = good();
  r.driver_parameters = "RmProfilingAdminOnly: 1\n";
  EXPECT_EQ(blocked(r), access_counters);
  r.probes = {{"GPU-1", 0, ""}};
  EXPECT_EQ(blocked(r), 0u);
  r.probes.push_back({"GPU-2", 0, "planted"});
  EXPECT_EQ(blocked(r), access_counters);
}

TEST(Probe, ARefusalBlocks) {
  AccessReadings r = good();
  r.probes = {{"GPU-1", 35, "cuptiPmSamplingEnable: planted"}};
  expect(r, "probe", "GPU-1: cuptiPmSamplingEnable: planted", access_counters,
         "NVreg_RestrictProfilingToAdminUsers=0");
  r.probes = {{"GPU-1", 26, "busy"}};
  expect(r, "probe", "GPU-1: busy", access_pm, "");
  r.probes = {{"", 0, "the probe ended by signal 11"}};
  expect(r, "probe", "the probe ended by signal 11", access_pm, "");
}

TEST(JudgeGpm, NeedsNvmlAndASupportingDevice) {
  AccessReadings r = good();
  r.nvml_why = "no NVML: planted";
  expect(r, "GPM", "no NVML: planted", access_gpm, "mount it");
  r = good();
  r.gpus[0].gpm = false;
  expect(r, "GPM", "they need Hopper or newer", access_gpm, "");
  r.gpus[0].gpm.reset();
  expect(r, "GPM", "they need Hopper or newer", access_gpm, "");
}

}  // namespace
}  // namespace warpmeter
