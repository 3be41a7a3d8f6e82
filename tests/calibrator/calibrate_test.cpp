// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/stats.h"
#include "tests/calibrator/made_up_runs.h"
#include "tests/calibrator/synthetic.h"

namespace warpmeter {
namespace {

TEST(Calibrate, FindsTheLevelsOfAHost) {
  warpmeter::Run run = host();
  add_chase(run, clean);
  const Machine machine = calibrate_one(run);
  const auto value = [&](const char* name) { return *machine.parameters.at(name).value; };
  EXPECT_NEAR(value("latency.l1.hit"), 1e-9, 1e-15);
  EXPECT_NEAR(value("latency.l2.hit"), 4e-9, 1e-15);
  EXPECT_NEAR(value("latency.l3.hit"), 20e-9, 1e-15);
  EXPECT_NEAR(value("latency.dram"), 90e-9, 1e-15);
  const Parameter& l2 = machine.parameters.at("capacity.l2");
  EXPECT_EQ(l2.interval, (Interval{1 * mib, 4 * mib}));
  EXPECT_NEAR(*l2.value, 2 * mib, 1);
  const Parameter& l1 = machine.parameters.at("latency.l1.hit");
  EXPECT_EQ(l1.status, Status::measured);
  EXPECT_EQ(l1.evidence.size(), 4u);
  EXPECT_EQ(l1.valid_range["footprint"][1], 32 * kib);
  EXPECT_TRUE(l1.interval);
  EXPECT_TRUE(l1.reason.empty());
  EXPECT_TRUE(l1.distribution.is_null());
}

TEST(Calibrate, WithoutRunsOrAcrossDevicesIsRefused) {
  EXPECT_THROW(calibrate({}), InputError);
  warpmeter::Run a = host(), b = host();
  b.source = Source::emulated;
  EXPECT_THROW(calibrate(std::vector{a, b}), InputError);
  b = host();
  b.device = "cuda:0";
  EXPECT_THROW(calibrate(std::vector{a, b}), InputError);
  b = host();
  b.facts["cpu.model"].value = "another";
  EXPECT_THROW(calibrate(std::vector{a, b}), InputError);
  for (const char* fact : {"name", "emulated.chip_hash"}) {
    a = host(), b = host();
    a.facts[fact] = {"one", std::nullopt, "test"};
    b.facts[fact] = {"another", std::nullopt, "test"};
    EXPECT_THROW(calibrate(std::vector{a, b}), InputError) << fact;
  }
  EXPECT_NO_THROW(calibrate(std::vector{a, a}));
}

TEST(Calibrate, AnEmptyRunGivesEveryParameterAReason) {
  warpmeter::Run gpu;
  gpu.device = "cuda:0";
  const Machine host_machine = calibrate_one(host()), gpu_machine = calibrate_one(gpu);
  for (const Machine& machine : {host_machine, gpu_machine}) {
    for (const auto& [name, parameter] : machine.parameters) {
      EXPECT_EQ(parameter.status, Status::not_measured) << name;
      EXPECT_FALSE(parameter.value) << name;
      EXPECT_FALSE(parameter.reason.empty()) << name;
    }
  }
  for (const char* name :
       {"latency.l1.hit", "latency.l3.hit", "latency.dram", "capacity.l3", "latency.tlb_miss",
        "bandwidth.l2.copy.core", "bandwidth.dram.triad.device", "bandwidth.dram.saturated.core",
        "latency.dram.in_flight", "concurrency.dram.core", "latency.dram.loaded",
        "throughput.fma.int8.device.burst", "latency.fma.f64", "latency.core_to_core",
        "launch.fork_join", "clock.core.vector", "model.overlap"}) {
    EXPECT_TRUE(host_machine.parameters.contains(name)) << name;
  }
  for (const char* name :
       {"latency.l1.hit", "capacity.l2", "bandwidth.dram.read.device", "throughput.mma.bf16.device",
        "launch.stream", "launch.graph", "transfer.p2p.latency", "clock.sm"}) {
    EXPECT_TRUE(gpu_machine.parameters.contains(name)) << name;
  }
  EXPECT_FALSE(gpu_machine.parameters.contains("launch.fork_join"));
  EXPECT_FALSE(host_machine.parameters.contains("transfer.h2d.bandwidth"));
}

TEST(Calibrate, AnUnusableVerdictIsNamedAndNotUsed) {
  warpmeter::Run run = host();
  add_chase(run, clean);
  run.measurements[6].verdict = Verdict::contaminated;
  run.measurements[6].value = 1.0;
  add(run, "launch.fork_join", {{"threads", 2.0}}, 1e-6);
  run.measurements.back().verdict = Verdict::ramping;
  const Machine machine = calibrate_one(run);
  const Parameter& l2 = machine.parameters.at("latency.l2.hit");
  EXPECT_NEAR(*l2.value, 4e-9, 1e-15);
  EXPECT_NE(l2.reason.find("left out: latency.chase/footprint=262144"), std::string::npos)
      << l2.reason;
  const Parameter& fork_join = machine.parameters.at("launch.fork_join");
  EXPECT_EQ(fork_join.status, Status::not_measured);
  EXPECT_NE(fork_join.reason.find("ramping"), std::string::npos);
  for (const Curve& curve : machine.curves) {
    for (const CurvePoint& point : curve.points) EXPECT_LT(point.y, 1);
  }
}

TEST(Calibrate, UnstableMeasurementsAreUsedAndSaid) {
  warpmeter::Run run = host();
  add(run, "launch.fork_join", {{"threads", 2.0}}, 1e-6);
  run.measurements.back().verdict = Verdict::unstable;
  const Parameter parameter = calibrate_one(run).parameters.at("launch.fork_join");
  EXPECT_EQ(parameter.value, 1e-6);
  EXPECT_NE(parameter.reason.find("1 of 1 measurements behind it are unstable"), std::string::npos);
}

TEST(Calibrate, TheSameMeasurementOfTwoRunsIsPooled) {
  warpmeter::Run a = host(), b = host();
  add(a, "launch.fork_join", {{"threads", 2.0}}, {{1e-6}, {2e-6}});
  add(b, "launch.fork_join", {{"threads", 2.0}}, {{3e-6}, {4e-6}, {5e-6}});
  const Machine machine = calibrate(std::vector{a, b});
  EXPECT_DOUBLE_EQ(*machine.parameters.at("launch.fork_join").value, 3e-6);
  EXPECT_EQ(machine.inputs.size(), 2u);
}

TEST(Calibrate, ARampInPlaceOfL3IsNotCalledALevel) {
  warpmeter::Run run = host();
  add_chase(run, {1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 13, 22, 36, 55, 75, 90, 90, 90, 90});
  const Machine machine = calibrate_one(run);
  const Parameter& l3 = machine.parameters.at("latency.l3.hit");
  EXPECT_EQ(l3.status, Status::not_identifiable);
  EXPECT_FALSE(l3.value);
  EXPECT_NE(l3.reason.find("no plateau"), std::string::npos) << l3.reason;
  EXPECT_EQ(machine.parameters.at("capacity.l3").status, Status::not_identifiable);
  // All that is known of L2's end: before the first footprint at DRAM latency.
  EXPECT_EQ(machine.parameters.at("capacity.l2").interval, (Interval{1 * mib, 128 * mib}));
}

TEST(Calibrate, AGentleRampGivesAValueWithAWideInterval) {
  warpmeter::Run run = host();
  add_chase(run, {1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 18, 21, 24.5, 28.5, 75, 90, 90, 90, 90});
  const Parameter l3 = calibrate_one(run).parameters.at("latency.l3.hit");
  ASSERT_TRUE(l3.value && l3.interval);
  EXPECT_LE(l3.interval->lo, 18.001e-9);
  EXPECT_GE(l3.interval->hi, 28.499e-9);
  EXPECT_NE(l3.reason.find("no plateau"), std::string::npos);
}

TEST(Calibrate, AMismatchWithTheFactsIsSaid) {
  warpmeter::Run run = host();
  run.facts["cache.l3.size"].value = 260 * mib;  // the VM gets a part of it
  add_chase(run, {1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 20, 20, 20, 40, 90, 90, 90, 90, 90});
  const Machine machine = calibrate_one(run);
  EXPECT_NEAR(*machine.parameters.at("latency.l3.hit").value, 20e-9, 1e-12);
  EXPECT_NE(machine.parameters.at("latency.dram").reason.find("below the nominal"),
            std::string::npos)
      << machine.parameters.at("latency.dram").reason;
  EXPECT_NE(machine.parameters.at("capacity.l3").reason.find("nominal size"), std::string::npos);
}

TEST(Calibrate, WithoutHugePagesTheLatencySaysThatItIncludesTranslation) {
  warpmeter::Run run = host();
  add_chase(run, clean, "4k");
  const Machine machine = calibrate_one(run);
  EXPECT_NEAR(*machine.parameters.at("latency.dram").value, 90e-9, 1e-12);
  EXPECT_NE(machine.parameters.at("latency.dram").reason.find("translation"), std::string::npos);
  EXPECT_EQ(machine.parameters.at("latency.tlb_miss").status, Status::not_measured);
}

TEST(Calibrate, TheTlbMissIsTheDifferenceBeyondItsReach) {
  warpmeter::Run run = host();
  add_chase(run, clean);
  std::vector<double> small = clean;
  for (std::size_t i = 13; i < small.size(); ++i) small[i] += 7;  // from 32 MiB on
  add_chase(run, small, "4k");
  const Machine machine = calibrate_one(run);
  const Parameter& miss = machine.parameters.at("latency.tlb_miss");
  EXPECT_NEAR(*miss.value, 7e-9, 1e-12);
  EXPECT_EQ(miss.status, Status::derived);
  EXPECT_EQ(miss.valid_range["footprint"][0], 32 * mib);
}

}  // namespace
}  // namespace warpmeter
