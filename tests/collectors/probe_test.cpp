// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/probe.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#ifdef WARPMETER_CUPTI_HEADERS
#include "collectors/cupti_api.h"
#endif

namespace warpmeter {
namespace {

constexpr std::chrono::milliseconds patience{60000};

TEST(AskInChild, GivesTheAnswer) {
  std::string why = "left over";
  const std::string large(1 << 20, 'x');  // more than a pipe holds
  EXPECT_EQ(ask_in_child([&] { return large; }, patience, why), large);
  EXPECT_EQ(why, "");
}

TEST(AskInChild, SurvivesACrash) {
  std::string why;
  const auto crash = [] {
    std::signal(SIGSEGV, SIG_DFL);  // also under a sanitizer
    std::raise(SIGSEGV);
    return std::string("alive");
  };
  EXPECT_EQ(ask_in_child(crash, patience, why), "");
  EXPECT_EQ(why, "ended by signal 11");
}

TEST(AskInChild, DoesNotWaitForEver) {
  std::string why;
  const auto hang = [] {
    while (true) std::this_thread::sleep_for(std::chrono::seconds(1));
    return std::string();
  };
  EXPECT_EQ(ask_in_child(hang, std::chrono::milliseconds(50), why), "");
  EXPECT_EQ(why, "no answer within 50 ms");
}

TEST(AskInChild, AnEndOrAnExceptionIsNoAnswer) {
  std::string why;
  EXPECT_EQ(ask_in_child([]() -> std::string { _exit(3); }, patience, why), "");
  EXPECT_EQ(why, "ended with status 3");
  EXPECT_EQ(ask_in_child([]() -> std::string { throw std::runtime_error("x"); }, patience, why),
            "");
  EXPECT_EQ(why, "ended with status 1");
}

TEST(AskInChild, LeavesThisProcessAsItIs) {
  std::string why;
  int value = 1;
  ask_in_child([&] { return value = 2, std::string(); }, patience, why);
  EXPECT_EQ(value, 1);
}

TEST(ProbeResults, GoThroughThePipe) {
  const auto results = probe_results_of(to_text({{"GPU-1", 35, "why \"not\""}, {"", 0, ""}}));
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].device, "GPU-1");
  EXPECT_EQ(results[0].error, 35);
  EXPECT_EQ(results[0].why, "why \"not\"");
  EXPECT_EQ(results[1].why, "");
  EXPECT_FALSE(probe_results_of("[{").at(0).why.empty());
}

#ifdef WARPMETER_CUPTI_HEADERS

// What the fakes below saw and answer.
struct Fake {
  int initialize = 0, enable = 0, set = 0, disabled = 0;
  std::size_t refused_device = 99;
} fake;

CuptiApi fake_cupti() {
  CuptiApi api;
  api.cuptiProfilerInitialize = [](CUpti_Profiler_Initialize_Params*) {
    return static_cast<CUptiResult>(fake.initialize);
  };
  api.cuptiDeviceGetChipName = [](CUpti_Device_GetChipName_Params* p) {
    p->pChipName = p->deviceIndex == 0 ? "GH100" : "GA100";
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingEnable = [](CUpti_PmSampling_Enable_Params* p) {
    if (p->deviceIndex == fake.refused_device) return static_cast<CUptiResult>(fake.enable);
    p->pPmSamplingObject = reinterpret_cast<CUpti_PmSampling_Object*>(0x10 + p->deviceIndex);
    return CUPTI_SUCCESS;
  };
  api.cuptiPmSamplingSetConfig = [](CUpti_PmSampling_SetConfig_Params* p) {
    EXPECT_EQ(p->configSize, 5u);  // the chip's name
    return static_cast<CUptiResult>(fake.set);
  };
  api.cuptiPmSamplingDisable = [](CUpti_PmSampling_Disable_Params*) {
    ++fake.disabled;
    return CUPTI_SUCCESS;
  };
  return api;
}

CounterConfig configure(const std::string& chip) {
  CounterConfig config;
  config.image.assign(chip.begin(), chip.end());
  return config;
}

std::vector<ProbeResult> probe() {
  std::vector<TargetDevice> devices(2);
  devices[0].uuid = "GPU-0";
  devices[1].uuid = "GPU-1";
  return probe_devices(fake_cupti(), devices, configure);
}

TEST(ProbeDevices, SwitchesEachOnAndOff) {
  fake = {};
  const auto results = probe();
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].device, "GPU-0");
  EXPECT_EQ(results[0].why + results[1].why, "");
  EXPECT_EQ(fake.disabled, 2);
}

TEST(ProbeDevices, NamesTheCallAndTheError) {
  fake = {};
  fake.enable = 35;
  fake.refused_device = 1;
  auto results = probe();
  EXPECT_EQ(results[0].why, "");
  EXPECT_EQ(results[1].error, 35);
  EXPECT_EQ(
      results[1].why.rfind("cuptiPmSamplingEnable: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES (35)", 0),
      0u)
      << results[1].why;
  EXPECT_EQ(fake.disabled, 1);

  fake = {};
  fake.set = 27;
  results = probe();
  EXPECT_EQ(results[0].why.rfind("cuptiPmSamplingSetConfig: CUPTI_ERROR_NOT_SUPPORTED (27)", 0),
            0u);
  EXPECT_EQ(fake.disabled, 2);  // also after a failure

  fake = {};
  fake.initialize = 15;
  results = probe();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].error, 15);
}

#endif

}  // namespace
}  // namespace warpmeter
