// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/pc_sampling.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "core/error.h"
#include "fake_pc.h"
#include "kept_rows.h"

namespace warpmeter {
namespace {

CUcontext context() { return reinterpret_cast<CUcontext>(0x10); }

class Pc : public ::testing::Test {
 protected:
  PcCollector make(PcOptions options = {}, int major = 9) {
    api = api_of(device);
    target.cupti = &api;
    target.process_id = 5;
    target.devices = {{9, "Planted GPU", "GPU-1", "GH100", major, 0, 132}};
    if (options.fetch_ns == PcOptions().fetch_ns) options.fetch_ns = 3'600'000'000'000;
    return {target, options, [this] { return now.load(); }};
  }
  KeptRows rows(PcCollector& collector) {
    KeptRows list;
    collector.drain(list);
    return list;
  }

  FakePc device;
  CuptiApi api;
  Target target;
  std::atomic<std::int64_t> now{100'000'000'000};
};

TEST_F(Pc, AddsUpSamplesByInstructionAndReason) {
  PcCollector collector = make();
  collector.context_created(context(), 0);
  collector.arm();
  device.records = {{"gemm", 0xfeedfacefeedface, 16, {{3, 10}, {1, 4}}},
                    {"gemm", 0xfeedfacefeedface, 32, {{5, 1}}},
                    {"gemm", 0xfeedfacefeedface, 16, {{3, 7}, {5, 0}}},
                    {"softmax", 2, 16, {{3, 2}}},
                    {"softmax", 2, 16, {{7, 3}}}};
  collector.turn(now);
  EXPECT_TRUE(device.records.empty());  // nothing waits for the next turn
  const KeptRows list = rows(collector);
  std::map<std::string, std::int64_t> samples;
  for (const PcSampleRow& row : list.pc_samples) {
    EXPECT_EQ(row.process_id, 5);
    EXPECT_EQ(row.device_id, 9);
    samples[list.text(row.function_id) + "@" + std::to_string(row.pc_offset) + " " +
            list.text(row.reason_id)] = row.samples;
  }
  EXPECT_EQ(samples, (std::map<std::string, std::int64_t>{{"gemm@16 long_scoreboard", 17},
                                                          {"gemm@16 long_scoreboard_not_issued", 4},
                                                          {"gemm@32 barrier", 1},
                                                          {"softmax@16 long_scoreboard", 2},
                                                          {"softmax@16 unknown", 3}}));
  EXPECT_EQ(list.pc_samples[0].cubin_crc == 2 || list.pc_samples[0].cubin_crc < 0, true);
}

// Rows come seldom, and all of them at the end, with what CUPTI hands over as it is disabled.
TEST_F(Pc, GivesRowsSeldomAndTheRestAtTheEnd) {
  PcCollector collector = make();
  collector.context_created(context(), 0);
  collector.arm();
  rows(collector);
  device.records = {{"gemm", 1, 16, {{3, 10}}}};
  collector.turn(now);
  now += 1'000'000'000;
  EXPECT_TRUE(rows(collector).pc_samples.empty());
  device.records = {{"gemm", 1, 16, {{3, 5}}}};
  device.at_end = {{"gemm", 1, 48, {{5, 6}}}};
  collector.disarm();
  const KeptRows list = rows(collector);
  ASSERT_EQ(list.pc_samples.size(), 2u);
  EXPECT_EQ(list.pc_samples[0].samples, 15);
  EXPECT_EQ(list.pc_samples[1].samples, 6);
  EXPECT_EQ(device.calls.count("Disable"), 1u);
  EXPECT_TRUE(rows(collector).pc_samples.empty());
}

TEST_F(Pc, CountsWhatWasLost) {
  PcCollector collector = make();
  collector.context_created(context(), 0);
  collector.arm();
  device.dropped = 30;
  device.not_user = 4;
  collector.turn(now);
  device.full = true;
  collector.turn(now);
  EXPECT_EQ(rows(collector).lost(),
            (std::map<std::string, std::int64_t>{
                {"samples of device 0", 34}, {"content of the hardware buffer of device 0", 1}}));
}

// CUPTI says that it has more, and does not give it.
TEST_F(Pc, CountsWhatIsLeftAtTheEnd) {
  PcCollector collector = make();
  collector.context_created(context(), 0);
  collector.arm();
  device.withheld = 9;
  device.at_end = {{"gemm", 1, 48, {{5, 6}}}};
  collector.disarm();
  const KeptRows list = rows(collector);
  ASSERT_EQ(list.losses.size(), 1u);
  EXPECT_EQ(list.losses[0].what, "instructions of device 0");
  EXPECT_EQ(list.losses[0].count, 8);
}

TEST_F(Pc, NeverSetsThePeriodOnBlackwell) {
  PcOptions options;
  options.period = 12;
  for (const int major : {9, 10, 12}) {
    device.attributes.clear();
    PcCollector collector = make(options, major);
    collector.context_created(context(), 0);
    collector.arm();
    EXPECT_EQ(device.attributes.count(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD),
              major < 10 ? 1u : 0u);
    EXPECT_EQ(
        device.attributes.count(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE),
        0u);
  }
}

TEST_F(Pc, SamplesInWindows) {
  PcOptions options;
  options.share = 0.25;
  PcCollector collector = make(options);
  collector.context_created(context(), 0);
  collector.arm();
  int on = 0;
  for (int i = 0; i < 120; ++i) {  // ten turns of 120 ms, in steps of 10 ms
    collector.turn(now += 10'000'000);
    on += device.calls.count("Start") > device.calls.count("Stop");
  }
  EXPECT_EQ(on, 30);
  EXPECT_EQ(device.calls.count("Start"), 10u);
  collector.disarm();
  EXPECT_EQ(device.calls.count("Start"), device.calls.count("Stop"));
}

TEST_F(Pc, FetchesBeforeAModuleOrContextGoes) {
  PcCollector collector = make();
  collector.arm();
  collector.context_created(context(), 0);
  device.records = {{"gemm", 1, 16, {{3, 10}}}};
  collector.module_unloading(context());
  EXPECT_TRUE(device.records.empty());
  device.records = {{"gemm", 1, 16, {{3, 10}}}};
  collector.context_destroyed(context());
  EXPECT_TRUE(device.records.empty());
  EXPECT_EQ(device.calls.count("Disable"), 1u);
  collector.turn(now);
  EXPECT_EQ(rows(collector).pc_samples.at(0).samples, 20);
}

TEST_F(Pc, SaysWhatCuptiRefuses) {
  for (const char* where : {"Enable", "NumReasons", "Configure", "GetData"}) {
    device.errors = {{where, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES}};
    device.calls.clear();
    PcCollector collector = make();
    collector.context_created(context(), 0);
    collector.arm();
    collector.turn(now);
    const KeptRows list = rows(collector);
    ASSERT_EQ(list.losses.size(), 1u) << where;
    EXPECT_NE(list.losses[0].reason.find("INSUFFICIENT_PRIVILEGES"), std::string::npos);
    EXPECT_EQ(device.calls.count("Disable"), where == std::string("Enable") ? 0u : 1u);
  }
  device.errors = {{"old", CUPTI_SUCCESS}};
  device.calls.clear();
  PcCollector collector = make();
  collector.context_created(context(), 0);
  collector.arm();
  EXPECT_NE(rows(collector).losses.at(0).reason.find("older than CUDA 12.4"), std::string::npos);
  EXPECT_EQ(device.calls.count("Enable"), 0u);
}

TEST_F(Pc, LosesNothingBetweenThreads) {
  PcOptions options;
  options.fetch_ns = 50'000;
  options.rows_ns = 0;
  PcCollector collector = make(options);
  collector.context_created(context(), 0);
  collector.arm();
  std::int64_t samples = 0;
  const auto add = [&] {
    for (const PcSampleRow& row : rows(collector).pc_samples) samples += row.samples;
  };
  for (int i = 0; i < 200; ++i) {
    {
      const std::lock_guard lock(device.mutex);
      device.records.push_back({"gemm", 1, 16, {{3, 2}}});
    }
    add();
  }
  collector.disarm();
  add();
  EXPECT_EQ(samples, 400);
}

// Wilson's interval for 10 of 100 at 90 %, by hand: z = 1.644854.
TEST(StallShares, GivesWilsonsInterval) {
  const std::vector<std::pair<std::string_view, std::uint64_t>> counts = {
      {"barrier", 10}, {"wait_not_issued", 70}, {"wait", 90}, {"drain", 0}};
  const auto shares = stall_shares(counts);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_EQ(shares[0].reason, "wait");
  EXPECT_DOUBLE_EQ(shares[1].share, 0.1);
  EXPECT_NEAR(shares[1].interval.lo, 0.060719, 1e-5);
  EXPECT_NEAR(shares[1].interval.hi, 0.160355, 1e-5);
  EXPECT_NEAR(shares[2].interval.lo, 0, 1e-12);
  EXPECT_NEAR(shares[2].interval.hi, 2.705543 / 102.705543, 1e-6);
  EXPECT_TRUE(stall_shares({}).empty());
}

TEST(StallShares, CoversPlantedShares) {
  std::mt19937 random(3);
  std::binomial_distribution<int> draw(300, 0.2);
  int covered = 0;
  for (int i = 0; i < 2000; ++i) {
    const auto hit = static_cast<std::uint64_t>(draw(random));
    const std::vector<std::pair<std::string_view, std::uint64_t>> counts = {{"a", hit},
                                                                            {"b", 300 - hit}};
    for (const StallShare& share : stall_shares(counts))
      if (share.reason == "a") covered += share.interval.lo <= 0.2 && 0.2 <= share.interval.hi;
  }
  EXPECT_GT(covered, 2000 * 0.87);
  EXPECT_LT(covered, 2000 * 0.93);
}

TEST_F(Pc, RefusesWhatCannotBe) {
  EXPECT_THROW(PcCollector(Target(), {}, {}), InputError);
  PcOptions options;
  options.share = 0;
  EXPECT_THROW(make(options), InputError);
}

}  // namespace
}  // namespace warpmeter
