// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
// The PM collector: what it writes and what it loses.
#include <fmt/format.h>

#include <cmath>

#include "tests/collectors/pm_fixture.h"

namespace warpmeter {
namespace {

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
  EXPECT_TRUE(sink_.losses.empty()) << sink_.losses.front().reason;
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
    KeptRows sink;
    collector.drain(sink);
    ASSERT_EQ(sink.losses.size(), 1u);
    EXPECT_FALSE(sink.losses[0].count);
    EXPECT_TRUE(sink.losses[0].from_ns && sink.losses[0].to_ns);
    EXPECT_NE(sink.losses[0].reason.find("from 100000 to 200000 ns"), std::string::npos);
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
  EXPECT_NE(sink_.losses[0].reason.find("cuptiPmSamplingDecodeData"), std::string::npos);
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
    KeptRows sink;
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
  EXPECT_EQ(sink_.losses[0].reason, "the writer did not keep up");
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
