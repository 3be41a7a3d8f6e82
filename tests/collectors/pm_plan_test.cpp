// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The PM collector: what it plans and what it refuses.
#include <fmt/format.h>

#include "tests/collectors/pm_fixture.h"

namespace warpmeter {
namespace {

TEST_F(PmSampling, PlansOnePassAndSaysWhatDoesNotFit) {
  fake_.weights = {{cycles_name, 0.5},
                   {active_name, 2},
                   {read_alias, 0.4},
                   {"dram__bytes_write.sum", 0.2},
                   {"lts__t_sectors.sum", 0.1}};
  PmCollector collector(fake_.target(1), by_hand());
  const Json device = collector.describe()["devices"][0];
  EXPECT_EQ(device["counters"], (Json{{"clock.sm_cycles", cycles_name},
                                      {"dram.bytes_read", read_alias},
                                      {"l2.sectors", "lts__t_sectors.sum"}}));
  const Json& refused = device["refused"];
  EXPECT_EQ(refused["sm.active"], fmt::format("{} takes 2 passes", active_name));
  EXPECT_EQ(refused["dram.bytes_write"].get<std::string>().substr(0, 44),
            "dram__bytes_write.sum does not fit the one p");
  EXPECT_NE(refused["time.gpu"].get<std::string>().find("INVALID_METRIC_NAME"), std::string::npos);
  EXPECT_EQ(device["derived"], Json::array({"l2.miss_share_sm"}));
  collector.arm();
  EXPECT_EQ(fake_.device(0).names,
            (std::vector<std::string>{cycles_name, read_alias, "lts__t_sectors.sum"}));
}

TEST_F(PmSampling, RefusesAnUnknownChipAndOneWithoutName) {
  EXPECT_NE(refusal([&] { PmCollector(fake_.target(1, "XX999"), by_hand()); }).find("\"XX999\""),
            std::string::npos);
  EXPECT_NE(refusal([&] { PmCollector(fake_.target(1, ""), by_hand()); }).find("use a newer CUPTI"),
            std::string::npos);
  EXPECT_EQ(fake_.initialized, 0);
}

TEST_F(PmSampling, RefusesWhatCuptiRefusesWithTheRemedy) {
  const std::pair<CUptiResult, const char*> cases[] = {
      {CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, "CAP_PERFMON"},
      {CUPTI_ERROR_HARDWARE_BUSY, "DCGM"},
      {CUPTI_ERROR_NOT_SUPPORTED, "NOT_SUPPORTED"},
      {CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED, "MIG off"}};
  for (const auto& [code, remedy] : cases) {
    fake_.device(0).availability_result = code;
    const std::string text = refusal([&] { PmCollector(fake_.target(1), by_hand()); });
    EXPECT_TRUE(text.starts_with("pm: cuptiPmSampling")) << text;
    EXPECT_NE(text.find(remedy), std::string::npos) << text;
    fake_.device(0).availability_result = CUPTI_SUCCESS;
    fake_.device(0).enable_result = code;
    PmCollector collector(fake_.target(1), by_hand());
    EXPECT_NE(refusal([&] { collector.arm(); }).find(remedy), std::string::npos);
    EXPECT_FALSE(fake_.device(0).enabled);
    fake_.device(0).enable_result = CUPTI_SUCCESS;
    collector.arm();  // another try
    EXPECT_TRUE(fake_.device(0).started);
  }
}

TEST_F(PmSampling, OneDeviceMayFailBesideAnother) {
  fake_.device(1).availability_result = CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED;
  PmCollector collector(fake_.target(2), by_hand());
  EXPECT_EQ(collector.describe()["devices"].size(), 1u);
  EXPECT_EQ(collector.describe()["refused"][0]["device"], 1);
}

TEST_F(PmSampling, InitializesOnceForAllAndEndsWithTheLast) {
  auto first = std::make_unique<PmCollector>(fake_.target(1), by_hand());
  auto second = std::make_unique<PmCollector>(fake_.target(1), by_hand());
  EXPECT_EQ(fake_.initializations, 1);
  first.reset();
  EXPECT_EQ(fake_.deinitializations, 0);
  second.reset();
  EXPECT_EQ(fake_.deinitializations, 1);
  PmCollector third(fake_.target(1), by_hand());
  EXPECT_EQ(fake_.initializations, 2);
}

TEST_F(PmSampling, TriggersByTheClockThatTheChipHas) {
  const std::pair<int, int> by_cycles[] = {{7, 5}, {8, 0}}, by_time[] = {{8, 6}, {9, 0}, {10, 0}};
  const auto trigger = [&](int major, int minor) {
    Target target = fake_.target(1);
    target.devices[0].major = major;
    target.devices[0].minor = minor;
    PmCollector collector(target, by_hand());
    collector.arm();
    EXPECT_EQ(fake_.device(0).config.hwBufferAppendMode,
              CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST);
    return fake_.device(0).config.triggerMode;
  };
  for (const auto& [major, minor] : by_cycles)
    EXPECT_EQ(trigger(major, minor), CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL);
  for (const auto& [major, minor] : by_time)
    EXPECT_EQ(trigger(major, minor), CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
  PmOptions latest = by_hand();
  latest.keep_latest = true;
  Target turing = fake_.target(1);
  turing.devices[0].major = 7;
  EXPECT_NE(refusal([&] { PmCollector(turing, latest); }), "");
}

}  // namespace
}  // namespace warpmeter
