// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "calibrator/calibrate.h"
#include "core/error.h"
#include "core/stats.h"
#include "tests/calibrator/made_up_runs.h"
#include "tests/calibrator/synthetic.h"

namespace warpmeter {
namespace {

TEST(Calibrate, BandwidthComesFromFootprintsInsideTheLevel) {
  warpmeter::Run run = host();
  const auto read = [&](double footprint, double threads, double value) {
    add(run, "bandwidth.read", {{"footprint", footprint}, {"page", "huge"}, {"threads", threads}},
        value, Unit::byte_per_second);
  };
  for (const double share : {0.25, 0.5}) {
    read(share * 48 * kib, 1, 100e9);
    read(share * 2 * mib, 1, 50e9);
    read(share * 64 * mib, 1, 20e9);
    read(share * 2 * 2 * mib, 2, 90e9);  // two private L2
  }
  read(0.75 * 2 * mib, 1, 37e9);  // L2 overflows
  read(128 * mib, 1, 11e9);       // below four times L3
  read(256 * mib, 1, 10e9);
  const Machine machine = calibrate_one(run);
  const auto value = [&](const char* name) { return machine.parameters.at(name).value; };
  EXPECT_NEAR(*value("bandwidth.l1.read.core"), 100e9, 1);
  EXPECT_NEAR(*value("bandwidth.l2.read.core"), 50e9, 1);
  EXPECT_NEAR(*value("bandwidth.l3.read.core"), 20e9, 1);
  EXPECT_NEAR(*value("bandwidth.dram.read.core"), 10e9, 1);
  EXPECT_NEAR(*value("bandwidth.l2.read.device"), 90e9, 1);
  EXPECT_FALSE(value("bandwidth.dram.read.device"));
  EXPECT_FALSE(value("bandwidth.dram.write.core"));
  EXPECT_EQ(machine.parameters.at("bandwidth.l2.read.core").evidence.size(), 2u);
}

TEST(Calibrate, ALevelWithoutOneBandwidthGetsTheRange) {
  warpmeter::Run run = host();
  for (const auto& [footprint, value] : {std::pair{12 * kib, 100e9}, {24 * kib, 80e9}}) {
    add(run, "bandwidth.read", {{"footprint", footprint}, {"page", "huge"}, {"threads", 1.0}},
        value, Unit::byte_per_second);
  }
  const Parameter l1 = calibrate_one(run).parameters.at("bandwidth.l1.read.core");
  EXPECT_LE(l1.interval->lo, 80e9);
  EXPECT_GE(l1.interval->hi, 100e9);
  EXPECT_NE(l1.reason.find("25 %"), std::string::npos) << l1.reason;
}

TEST(Calibrate, UnsaturatedBandwidthIsNotIdentifiable) {
  warpmeter::Run run = host();
  for (int chains = 1; chains <= 6; ++chains) {
    add(run, "bandwidth.in_flight", {{"footprint", 1e9}, {"in_flight", 64.0 * chains}},
        64.0 * chains / 100e-9, Unit::byte_per_second);
  }
  const Machine machine = calibrate_one(run);
  EXPECT_EQ(machine.parameters.at("bandwidth.dram.saturated.core").status,
            Status::not_identifiable);
  EXPECT_EQ(machine.parameters.at("concurrency.dram.core").status, Status::not_identifiable);
  EXPECT_NE(machine.parameters.at("concurrency.dram.core").reason.find("not saturated"),
            std::string::npos);
  EXPECT_NEAR(*machine.parameters.at("latency.dram.in_flight").value, 100e-9, 1e-12);
}

TEST(Calibrate, BurstAndSustainedStayApart) {
  warpmeter::Run run = host();
  for (const auto& [phase, value] : {std::pair{"burst", 2e11}, {"sustained", 1.5e11}}) {
    add(run, "throughput.fma", {{"type", "f32"}, {"threads", 1.0}, {"phase", phase}}, value,
        Unit::op_per_second);
    add(run, "throughput.fma", {{"type", "f32"}, {"threads", 2.0}, {"phase", phase}}, 2 * value,
        Unit::op_per_second);
  }
  const Machine machine = calibrate_one(run);
  const auto value = [&](const char* name) { return *machine.parameters.at(name).value; };
  EXPECT_EQ(value("throughput.fma.f32.core.burst"), 2e11);
  EXPECT_EQ(value("throughput.fma.f32.core.sustained"), 1.5e11);
  EXPECT_EQ(value("throughput.fma.f32.device.sustained"), 3e11);
}

TEST(Calibrate, CoreToCoreKeepsItsDistribution) {
  warpmeter::Run run = host();
  add(run, "latency.core_to_core", {{"from", 0.0}, {"to", 1.0}}, 40e-9);
  add(run, "latency.core_to_core", {{"from", 0.0}, {"to", 2.0}}, 50e-9);
  add(run, "latency.core_to_core", {{"from", 0.0}, {"to", 3.0}}, 120e-9);
  const Parameter parameter = calibrate_one(run).parameters.at("latency.core_to_core");
  EXPECT_DOUBLE_EQ(*parameter.value, 50e-9);
  EXPECT_DOUBLE_EQ(parameter.distribution["quantiles"]["1"], 120e-9);
}

TEST(Calibrate, SharedCampaignsGiveACovariance) {
  // The clock of the third campaign is slow: all levels move together.
  warpmeter::Run run = host();
  double footprint = 4 * kib;
  for (const double ns : clean) {
    add(run, "latency.chase", {{"footprint", footprint}, {"page", "huge"}},
        {{ns * 1e-9}, {1.01 * ns * 1e-9}, {1.04 * ns * 1e-9}, {0.99 * ns * 1e-9}});
    footprint *= 2;
  }
  const Covariance covariance = calibrate_one(run).covariance;
  const auto at = [&](const std::string& name) {
    return std::find(covariance.names.begin(), covariance.names.end(), name) -
           covariance.names.begin();
  };
  ASSERT_LT(at("latency.l1.hit"), std::ssize(covariance.names));
  const auto l1 = static_cast<std::size_t>(at("latency.l1.hit"));
  const auto dram = static_cast<std::size_t>(at("latency.dram"));
  const auto& m = covariance.matrix;
  EXPECT_GT(m[l1][l1], 0);
  EXPECT_NEAR(m[l1][dram] / std::sqrt(m[l1][l1] * m[dram][dram]), 1, 1e-6);
  EXPECT_EQ(m[l1][dram], m[dram][l1]);
}

TEST(Calibrate, CurvesAreKeptAndEmulatedStaysEmulated) {
  test::Synthetic synthetic = test::synthetic_gpu(5);
  synthetic.run.source = Source::emulated;
  const Machine machine = calibrate_one(synthetic.run);
  EXPECT_EQ(machine.source, Source::emulated);
  ASSERT_EQ(machine.curves.size(), 3u);
  EXPECT_EQ(machine.curves[0].quantity, "latency.chase");
  EXPECT_EQ(machine.curves[0].x_name, "footprint");
  EXPECT_EQ(word(machine.curves[0].parameters, "path"), "ca");
  EXPECT_TRUE(std::is_sorted(machine.curves[1].points.begin(), machine.curves[1].points.end(),
                             [](const auto& a, const auto& b) { return a.x < b.x; }));
  EXPECT_EQ(machine.curves[1].quantity, "transfer.time");
  EXPECT_EQ(machine.curves[1].points.size(), 15u);
  EXPECT_NE(machine.parameters.at("transfer.h2d.bandwidth").method.find("left out"),
            std::string::npos);
}

TEST(Calibrate, NearAndFarL2AreModesOfL2) {
  warpmeter::Run run;
  run.device = "cuda:0";
  run.facts["cache.l2.size"] = {40 * mib, Unit::byte, "test"};
  double footprint = 4 * kib;
  for (const double ns : {25., 25., 25., 25., 25., 80., 140., 140., 140., 140., 140., 140., 140.}) {
    add(run, "latency.chase", {{"footprint", footprint}, {"page", "default"}, {"path", "ca"}},
        ns * 1e-9);
    footprint *= 2;
  }
  for (const auto& [mibs, ns] : {std::pair{26., 280.},
                                 {31., 280.},
                                 {37., 280.},
                                 {60., 380.},
                                 {120., 390.},
                                 {240., 390.},
                                 {480., 390.}}) {
    add(run, "latency.chase", {{"footprint", mibs * mib}, {"page", "default"}, {"path", "ca"}},
        ns * 1e-9);
  }
  const Machine machine = calibrate_one(run);
  const Parameter& l2 = machine.parameters.at("latency.l2.hit");
  EXPECT_NEAR(*l2.value, 140e-9, 1e-12);
  ASSERT_TRUE(l2.distribution.contains("modes"));
  EXPECT_NEAR(l2.distribution["modes"][0], 140e-9, 1e-12);
  EXPECT_NEAR(l2.distribution["modes"][1], 280e-9, 1e-12);
  EXPECT_NEAR(*machine.parameters.at("latency.dram").value, 390e-9, 5e-9);
  EXPECT_EQ(machine.parameters.at("capacity.l2").interval, (Interval{37 * mib, 60 * mib}));
  EXPECT_EQ(machine.parameters.at("capacity.l2.segment").interval, (Interval{16 * mib, 26 * mib}));
}

}  // namespace
}  // namespace warpmeter
