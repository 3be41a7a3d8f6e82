// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "collectors/nvml_collector.h"

#include <algorithm>

#include "core/error.h"
#include "kept_rows.h"
#include "nvml_support.h"

namespace warpmeter {
namespace {

class NvmlThread : public NvmlTest {
 protected:
  void SetUp() override {
    NvmlTest::SetUp();
    target.process_id = 7;
    target.devices.resize(1);
    target.devices[0].row_id = 42;
    target.devices[0].uuid = first_uuid;
    options.interval = std::chrono::milliseconds(1);
  }

  // Until `samples` more than at the start were taken.
  static void run(NvmlCollector& collector, std::uint64_t samples) {
    const auto taken = [&] { return collector.describe().at("samples").get<std::uint64_t>(); };
    const std::uint64_t enough = taken() + samples;
    collector.arm();
    while (taken() < enough) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    collector.disarm();
  }

  Target target;
  NvmlOptions options;
  KeptRows sink;
};

TEST_F(NvmlThread, RowsNameProcessDeviceUnitAndSourceAndFollowTime) {
  NvmlCollector collector(target, options);
  run(collector, 5);
  const std::size_t rows = collector.drain(sink);
  EXPECT_EQ(rows, sink.samples.size());
  EXPECT_EQ(sink.others, 0u);
  std::int64_t last = 0, count = 0;
  for (const auto& sample : sink.samples) {
    EXPECT_EQ(sample.process_id, 7);
    EXPECT_EQ(sample.device_id, 42);
    EXPECT_EQ(sample.source, "nvml");
    if (sample.metric != "power.instant") continue;
    EXPECT_EQ(sample.unit, "W");
    EXPECT_DOUBLE_EQ(sample.value.value(), 350.5);
    EXPECT_GT(sample.time_ns, last);
    last = sample.time_ns;
    ++count;
  }
  EXPECT_EQ(count, collector.describe().at("samples"));
  EXPECT_EQ(collector.drain(sink), 0u);
}

TEST_F(NvmlThread, MayBeArmedAgain) {
  NvmlCollector collector(target, options);
  collector.disarm();
  run(collector, 2);
  collector.drain(sink);
  const std::size_t before = sink.samples.size();
  run(collector, 2);
  EXPECT_GT(collector.drain(sink), 0u);
  EXPECT_GT(sink.samples.size(), before);
}

TEST_F(NvmlThread, DescribesClockChangesAndReasons) {
  planted->sm_clocks = {1980, 1980, 1500, 1980};
  planted->reasons = {0x4, 0x44};
  NvmlCollector collector(target, options);
  run(collector, 8);
  const Json description = collector.describe();
  EXPECT_DOUBLE_EQ(description.at("interval").get<double>(), 1e-3);
  const Json& device = description.at("devices").at(0);
  const auto samples = description.at("samples").get<std::uint64_t>();
  EXPECT_EQ(device.at("uuid"), first_uuid);
  EXPECT_EQ(device.at("clock_sm").at("low"), 1.5e9);
  EXPECT_EQ(device.at("clock_sm").at("high"), 1.98e9);
  // Two changes in every four readings, at the third and fourth of them.
  EXPECT_EQ(device.at("clock_sm").at("changes"), 2 * (samples / 4) + (samples % 4 == 3 ? 1 : 0));
  EXPECT_EQ(device.at("clock_memory").at("changes"), 0);
  EXPECT_EQ(device.at("clock_reasons").at("software_power_cap"), samples);
  EXPECT_EQ(device.at("clock_reasons").at("hardware_thermal"), samples / 2);
  EXPECT_EQ(device.at("clock_reasons").size(), 2u);
  EXPECT_EQ(device.at("gpm"), "the device has no GPM: it needs Hopper or newer");
  EXPECT_FALSE(device.at("lost").get<bool>());
}

TEST_F(NvmlThread, WhatIsNotReadIsALossAndDescribed) {
  planted->fields.erase(82);
  NvmlCollector collector(target, options);
  run(collector, 3);
  collector.drain(sink);
  ASSERT_EQ(sink.losses.size(), 1u);
  EXPECT_EQ(sink.losses[0].collector, "nvml");
  EXPECT_EQ(sink.losses[0].what, std::string("temperature.memory of ") + first_uuid);
  EXPECT_EQ(sink.losses[0].reason, "NVML_ERROR_NOT_SUPPORTED (3); not asked for again");
  EXPECT_EQ(sink.losses[0].process_id, 7);
  const auto null = std::count_if(sink.samples.begin(), sink.samples.end(), [](const auto& s) {
    return s.metric == "temperature.memory" && !s.value;
  });
  EXPECT_EQ(null, 1);
  EXPECT_EQ(collector.describe().at("devices").at(0).at("not_read").at("temperature.memory"),
            "NVML_ERROR_NOT_SUPPORTED (3)");
}

TEST_F(NvmlThread, ALostDeviceIsALossAndTheThreadGoesOn) {
  planted->lost_after = 2;
  NvmlCollector collector(target, options);
  run(collector, 5);
  collector.drain(sink);
  ASSERT_EQ(sink.losses.size(), 1u);
  EXPECT_EQ(sink.losses[0].what, std::string("device of ") + first_uuid);
  EXPECT_EQ(sink.losses[0].count, 1);
  EXPECT_GT(sink.losses[0].from_ns.value(), 0);
  EXPECT_TRUE(collector.describe().at("devices").at(0).at("lost").get<bool>());
}

TEST_F(NvmlThread, AWriterThatDoesNotComeIsALoss) {
  NvmlCollector collector(target, options);
  // Each sample takes a buffer; there are 128.
  run(collector, 140);
  collector.drain(sink);
  ASSERT_EQ(sink.losses.size(), 1u);
  EXPECT_EQ(sink.losses[0].what, "samples");
  EXPECT_GT(sink.losses[0].count.value(), 0);
  EXPECT_LE(sink.losses[0].from_ns.value(), sink.losses[0].to_ns.value());
}

TEST_F(NvmlThread, WorksWithTheDevicesThatNvmlKnows) {
  target.devices.insert(target.devices.begin(), TargetDevice{});
  target.devices[0].uuid = "GPU-none";
  NvmlCollector collector(target, options);
  run(collector, 2);
  collector.drain(sink);
  for (const auto& sample : sink.samples) EXPECT_EQ(sample.device_id, 42);
  EXPECT_EQ(collector.describe().at("not_known").size(), 1u);
  target.devices.pop_back();
  EXPECT_THROW(NvmlCollector(target, options), InputError);
  target.devices.clear();
  EXPECT_THROW(NvmlCollector(target, options), InputError);
}

TEST_F(NvmlThread, RefusesAnIntervalOfNothing) {
  options.interval = std::chrono::milliseconds(0);
  EXPECT_THROW(NvmlCollector(target, options), InputError);
}

}  // namespace
}  // namespace warpmeter
