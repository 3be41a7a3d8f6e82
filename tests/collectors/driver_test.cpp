// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The driver gate in processes of their own, before stand-ins for the driver.
#include "collectors/driver.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <memory>

#include "core/json.h"

namespace warpmeter {
namespace {

// Runs print_access with `environment` before it ("A=1 B=2").
Json access(const std::string& environment) {
  const std::string command = "env " + environment + " '" WARPMETER_PRINT_ACCESS "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer{};
  while (pipe && fgets(buffer.data(), buffer.size(), pipe.get()) != nullptr) text += buffer.data();
  return Json::parse(text);
}

Json stand_in(const std::string& answer, const std::string& more = "-u CUDA_VISIBLE_DEVICES") {
  return access(more + " LD_LIBRARY_PATH=" WARPMETER_STAND_IN " STAND_IN_CUDA=" + answer);
}

TEST(DriverGate, ReadsVersionAndDevices) {
  const Json r = stand_in("ok");
  EXPECT_EQ(r.at("why"), "");
  EXPECT_EQ(r.at("version"), 13020);
  EXPECT_EQ(r.at("path"), WARPMETER_STAND_IN "/libcuda.so.1");
  ASSERT_EQ(r.at("devices").size(), 2u);
  EXPECT_EQ(r.at("devices").at(0).at("name"), "Planted GPU");
  EXPECT_EQ(r.at("devices").at(0).at("uuid"), "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  EXPECT_EQ(r.at("devices").at(0).at("major"), 9);
  EXPECT_EQ(r.at("devices").at(0).at("minor"), 3);
  EXPECT_EQ(r.at("devices").at(0).at("multiprocessors"), 132);
  EXPECT_EQ(r.at("devices").at(1).at("uuid"), "MIG-10111213-1415-1617-1819-1a1b1c1d1e1f");
}

TEST(DriverGate, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"old", "the driver is of CUDA 12.9; install one of CUDA 13 (580 or newer)"},
      {"no_device", "the driver sees no CUDA device; compare with nvidia-smi -L"},
      {"empty", "the driver sees no CUDA device; compare with nvidia-smi -L"},
      {"not_ready", "cuInit: CUDA_ERROR_SYSTEM_NOT_READY (802): start the fabric manager"},
      {"mismatch", "cuInit: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803): libcuda.so.1 and the"},
      {"strange", "cuInit: error 4711; compare with nvidia-smi"},
      {"broken", "cuDeviceGetUuid_v2 of device 0: CUDA_ERROR_UNKNOWN (999)"},
  };
  for (const auto& [answer, why] : cases) {
    const Json r = stand_in(answer);
    EXPECT_EQ(r.at("why").get<std::string>().rfind(why, 0), 0u) << r.at("why");
    EXPECT_TRUE(r.at("devices").empty()) << answer;
  }
}

TEST(DriverGate, NamesTheVariableThatHidesTheDevices) {
  const Json r = stand_in("no_device", "CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(r.at("why").get<std::string>().rfind(
                "no CUDA device is visible: CUDA_VISIBLE_DEVICES is \"-1\"; unset it", 0),
            0u)
      << r.at("why");
}

TEST(DriverGate, WithoutADriverSaysSo) {
  const Json r = access("-u LD_LIBRARY_PATH");
  if (!r.at("path").get<std::string>().empty()) GTEST_SKIP() << "this machine has a driver";
  EXPECT_EQ(r.at("why"),
            "no CUDA driver: libcuda.so.1 not found; install 580 or newer, or mount it into the "
            "container");
}

#ifdef WARPMETER_STUB
TEST(DriverGate, KnowsTheToolkitsStub) {
  const Json r = access("LD_LIBRARY_PATH=" WARPMETER_STUB);
  EXPECT_EQ(r.at("why").get<std::string>().rfind(
                "cuInit: CUDA_ERROR_STUB_LIBRARY (34): the toolkit's stub", 0),
            0u)
      << r.at("why");
  EXPECT_TRUE(r.at("devices").empty());
}
#endif

TEST(ReadAccess, NvmlThatDoesNotStartIsNamed) {
  const Json r = access("LD_LIBRARY_PATH=" WARPMETER_STAND_IN " STAND_IN_NVML_INIT=9");
  EXPECT_EQ(r.at("nvml"), "nvmlInit_v2: NVML_ERROR_DRIVER_NOT_LOADED (9)");
}

TEST(ReadAccess, ReadsThisProcess) {
  const Json r = stand_in("ok");
  EXPECT_GT(r.at("processes").get<int>(), 0);
  EXPECT_FALSE(r.at("kernel").get<std::string>().empty());
  EXPECT_TRUE(r.at("maps").get<bool>());
  EXPECT_TRUE(r.at("status").get<bool>());
  EXPECT_EQ(r.at("nvml"), "");
}

TEST(ReadAccess, ACuptiThatIsNotThereIsAReason) {
  const Json r = access("WARPMETER_CUPTI=/nowhere/libcupti.so.13");
  EXPECT_NE(r.at("cupti_why").get<std::string>().find("/nowhere/libcupti.so.13"),
            std::string::npos);
  EXPECT_EQ(r.at("cupti_version"), 0);
}

}  // namespace
}  // namespace warpmeter
