// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The PM collector against a CUPTI of planted answers.
#include "collectors/pm_sampling.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "collectors/clock.h"
#include "core/error.h"
#include "tests/collectors/fake_pm.h"
#include "tests/collectors/counter_sink.h"

namespace warpmeter {
namespace {

const char* cycles_name = "sm__cycles_elapsed.max";
const char* active_name = "sm__cycles_active.avg.pct_of_peak_sustained_elapsed";
const char* read_name = "dram__bytes_read.sum";
const char* read_alias = "dram__bytes_op_read.sum";

class PmSampling : public testing::Test {
 protected:
  PmSampling() { fake_.weights = {{cycles_name, 0.2}, {active_name, 0.2}, {read_name, 0.2}}; }

  // Decoding by hand: the collector's own thread sleeps through the test.
  static PmOptions by_hand() {
    PmOptions options;
    options.decode_period_ms = 3600000;
    return options;
  }

  static std::string refusal(const std::function<void()>& run) {
    try {
      run();
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }

  // Until `done`; a test that waits for ten seconds has failed.
  static bool eventually(const std::function<bool()>& done) {
    const std::int64_t until = monotonic_ns() + 10'000'000'000;
    while (!done()) {
      if (monotonic_ns() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
  }

  FakePm fake_;
  CounterSink sink_;
};

TEST_F(PmSampling, WritesWhatWasSampledWithoutTheFirstSample) {
  PmCollector collector(fake_.target(1), by_hand());
  collector.arm();
  fake_.produce(0, 4, 1000);
  const std::int64_t second = static_cast<std::int64_t>(fake_.device(0).hardware[1].start);
  collector.disarm();
  collector.drain(sink_);
  const auto cycles = sink_.of("clock.sm_cycles");
  ASSERT_EQ(cycles.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(cycles[i].time_ns, second + 1000 * i);
    EXPECT_EQ(cycles[i].process_id, 5);
    EXPECT_EQ(cycles[i].device_id, 10);
    EXPECT_EQ(cycles[i].source, "pm");
    EXPECT_EQ(cycles[i].unit, "cycle");
  }
  EXPECT_FALSE(cycles[0].value);  // says where the first interval begins
  EXPECT_EQ(cycles[1].value, 1);
  EXPECT_EQ(cycles[3].value, 3);
  EXPECT_EQ(sink_.of("sm.active")[2].value, 2 * 2 * 0.01);  // second counter, percent
  EXPECT_TRUE(sink_.losses.empty()) << sink_.reasons.front();
  EXPECT_EQ(fake_.hosts, 1);
}

TEST_F(PmSampling, KeepsImagesWithTheirChip) {
  PmCollector collector(fake_.target(1), by_hand());
  collector.arm();
  fake_.produce(0, 3, 1000);
  collector.disarm();
  collector.drain(sink_);
  std::vector<std::string> kinds;
  for (const auto& image : sink_.images) {
    kinds.push_back(image.kind);
    EXPECT_EQ(image.chip, "GH100");
    EXPECT_FALSE(image.data.empty());
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"counter_availability", "config", "counter_data",
                                             "counter_data"}));
  std::string config(reinterpret_cast<const char*>(sink_.images[1].data.data()),
                     sink_.images[1].data.size());
  EXPECT_EQ(config, fmt::format("1\n{}\n{}\n{}", cycles_name, active_name, read_name));
}

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

TEST_F(PmSampling, IsArmedAgainAndAgain) {
  PmCollector collector(fake_.target(1), by_hand());
  for (int i = 0; i < 3; ++i) {
    collector.arm();
    collector.arm();
    fake_.produce(0, 3, 1000);
    collector.disarm();
    collector.disarm();
    EXPECT_EQ(fake_.device(0).disabled, i + 1);
  }
  collector.drain(sink_);
  EXPECT_EQ(sink_.of("clock.sm_cycles").size(), 9u);
  EXPECT_EQ(collector.drain(sink_), 0u);
  EXPECT_EQ(fake_.device(0).intervals.size(), 3u);
}

TEST_F(PmSampling, RaisesTheIntervalAfterAnOverflowAndSaysSo) {
  for (const bool by_error : {false, true}) {
    PmOptions options;
    options.decode_period_ms = 1;
    PmCollector collector(fake_.target(1), options);
    collector.arm();
    fake_.produce(0, 3, 1000);
    const std::size_t before = fake_.device(0).intervals.size();
    {
      const std::lock_guard lock(fake_.mutex);
      fake_.device(0).overflow = !by_error;
      if (by_error) fake_.device(0).decode_result = CUPTI_ERROR_OUT_OF_MEMORY;
    }
    ASSERT_TRUE(eventually([&] {
      const std::lock_guard lock(fake_.mutex);
      return fake_.device(0).intervals.size() > before && fake_.device(0).started;
    }));
    collector.disarm();
    EXPECT_EQ(fake_.device(0).intervals.back(), 200000u);
    EXPECT_EQ(collector.describe()["devices"][0]["overflows"], 1);
    CounterSink sink;
    collector.drain(sink);
    ASSERT_EQ(sink.losses.size(), 1u);
    EXPECT_FALSE(sink.losses[0].count);
    EXPECT_TRUE(sink.losses[0].from_ns && sink.losses[0].to_ns);
    EXPECT_NE(sink.reasons[0].find("from 100000 to 200000 ns"), std::string::npos);
    EXPECT_EQ(sink.of("clock.sm_cycles").size(), 3u);  // what came before it is kept
  }
}

TEST_F(PmSampling, AGapIsALossAndBreaksTheIntervals) {
  PmCollector collector(fake_.target(1), by_hand());
  collector.arm();
  fake_.produce(0, 3, 100000);
  auto& hardware = fake_.device(0).hardware;
  for (auto& sample : hardware) sample.start -= 2000000, sample.end -= 2000000;
  hardware.push_back({hardware[2].end + 700000, hardware[2].end + 800000, 9});
  for (auto& sample : hardware) sample.start += 1500000, sample.end += 1500000;
  collector.disarm();
  collector.drain(sink_);
  const auto cycles = sink_.of("clock.sm_cycles");
  ASSERT_EQ(cycles.size(), 5u);
  EXPECT_FALSE(cycles[3].value);
  EXPECT_EQ(cycles[3].time_ns, cycles[2].time_ns + 700000);
  EXPECT_EQ(cycles[4].value, 9);
  ASSERT_EQ(sink_.losses.size(), 1u);
  EXPECT_EQ(sink_.losses[0].count, 7);
}

TEST_F(PmSampling, ManyImagesAreDecodedOneAfterTheOther) {
  PmOptions options = by_hand();
  options.samples_per_decode = 4;
  PmCollector collector(fake_.target(1), options);
  collector.arm();
  fake_.produce(0, 23, 1000);
  collector.disarm();
  collector.drain(sink_);
  EXPECT_EQ(sink_.of("clock.sm_cycles").size(), 23u);
  EXPECT_EQ(fake_.rejected_decodes, 0);
  int data = 0;
  for (const auto& image : sink_.images) data += image.kind == "counter_data" ? 1 : 0;
  EXPECT_EQ(data, 2);
}

TEST_F(PmSampling, AnErrorOfDecodingEndsTheDeviceAndIsALoss) {
  PmOptions options;
  options.decode_period_ms = 1;
  PmCollector collector(fake_.target(1), options);
  {
    const std::lock_guard lock(fake_.mutex);
    fake_.device(0).decode_result = CUPTI_ERROR_UNKNOWN;
  }
  collector.arm();
  ASSERT_TRUE(eventually([&] { return collector.describe()["devices"][0].contains("failure"); }));
  collector.disarm();
  collector.drain(sink_);
  ASSERT_EQ(sink_.losses.size(), 1u);
  EXPECT_NE(sink_.reasons[0].find("cuptiPmSamplingDecodeData"), std::string::npos);
  EXPECT_FALSE(fake_.device(0).enabled);
  collector.arm();  // and may be tried again
  EXPECT_TRUE(fake_.device(0).started);
}

TEST_F(PmSampling, TimesOfAnotherClockAreBroughtToTheHosts) {
  for (const std::int64_t skew : {std::int64_t{0}, std::int64_t{1} << 60, -1000000000L}) {
    fake_.skew = skew;
    PmCollector collector(fake_.target(1), by_hand());
    const std::int64_t before = monotonic_ns();
    collector.arm();
    fake_.produce(0, 3, 1000);
    collector.disarm();
    const std::int64_t after = monotonic_ns();
    CounterSink sink;
    collector.drain(sink);
    for (const SampleRow& row : sink.samples) {
      EXPECT_GT(row.time_ns, before - 1000000);
      EXPECT_LT(row.time_ns, after + 1000000);
    }
    const Json device = collector.describe()["devices"][0];
    const auto off = device["clock_offset_ns"].get<std::int64_t>() + skew;
    EXPECT_LE(std::abs(off), device["clock_uncertainty_ns"].get<std::int64_t>() + 1);
    EXPECT_TRUE(skew != 0 || off == 0) << off;
  }
}

TEST_F(PmSampling, SamplesOutsideOfTheRecordingAreNotPlacedInIt) {
  PmCollector collector(fake_.target(1), by_hand());
  collector.arm();
  fake_.produce(0, 4, 1000);
  fake_.device(0).hardware[2] = {5, 1005, 1};  // of a clock of its own
  collector.disarm();
  collector.drain(sink_);
  ASSERT_EQ(sink_.losses.size(), 1u);
  EXPECT_EQ(sink_.losses[0].count, 1);
  EXPECT_EQ(sink_.of("clock.sm_cycles").size(), 4u);  // two intervals, each with its beginning
}

TEST_F(PmSampling, WhatIsNotCountedIsNull) {
  PmCollector collector(fake_.target(1), by_hand());
  collector.arm();
  fake_.produce(0, 3, 1000);
  fake_.device(0).hardware[1].value = std::nan("");
  collector.disarm();
  collector.drain(sink_);
  EXPECT_FALSE(sink_.of("clock.sm_cycles")[1].value);
  EXPECT_TRUE(sink_.of("clock.sm_cycles")[2].value);
}

TEST_F(PmSampling, AFullQueueIsCounted) {
  PmOptions options = by_hand();
  options.most_queued = 6;  // two samples of three counters
  PmCollector collector(fake_.target(1), options);
  collector.arm();
  fake_.produce(0, 6, 1000);
  collector.disarm();
  collector.drain(sink_);
  ASSERT_EQ(sink_.losses.size(), 1u);
  EXPECT_EQ(sink_.losses[0].count, 3);
  EXPECT_EQ(sink_.reasons[0], "the writer did not keep up");
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

TEST_F(PmSampling, DrainsWhileItSamples) {
  PmOptions options;
  options.decode_period_ms = 1;
  PmCollector collector(fake_.target(2), options);
  collector.arm();
  for (int i = 0; i < 50; ++i) {
    fake_.produce(0, 3, 10);
    fake_.produce(1, 3, 10);
    collector.drain(sink_);
    (void)collector.describe();
  }
  collector.disarm();
  collector.drain(sink_);
  EXPECT_GE(sink_.of("clock.sm_cycles").size(), 298u);
}

TEST(PmSamplingWithout, CuptiOrDevicesIsRefused) {
  EXPECT_THROW(PmCollector(Target{}), InputError);
  const FakePm fake;
  EXPECT_THROW(PmCollector(fake.target(0)), InputError);
}

}  // namespace
}  // namespace warpmeter
