// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "calibrator/calibrate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/stats.h"
#include "tests/calibrator/synthetic.h"

namespace warpmeter {
namespace {

constexpr double kib = 1024, mib = 1024 * kib;

void add(Run& run, const std::string& quantity, const Parameters& parameters,
         std::vector<std::vector<double>> samples, Unit unit = Unit::second) {
  Measurement measurement;
  measurement.id = measurement_id(quantity, parameters);
  measurement.quantity = quantity;
  measurement.parameters = parameters;
  measurement.unit = unit;
  measurement.value = campaign_median(samples);
  measurement.interval = bootstrap_interval(samples);
  measurement.samples = std::move(samples);
  run.measurements.push_back(std::move(measurement));
}

void add(Run& run, const std::string& quantity, const Parameters& parameters, double value,
         Unit unit = Unit::second) {
  add(run, quantity, parameters, {{0.99 * value}, {value}, {1.01 * value}}, unit);
}

// A host with 48 KiB, 2 MiB and 64 MiB of cache.
Run host() {
  Run run;
  run.device = "cpu";
  run.facts["cpu.model"] = {"test", std::nullopt, "test"};
  run.facts["cpu.cores"] = {2, Unit::one, "test"};
  run.facts["cpu.threads"] = {2, Unit::one, "test"};
  run.facts["cache.l1d.size"] = {48 * kib, Unit::byte, "test"};
  run.facts["cache.l2.size"] = {2 * mib, Unit::byte, "test"};
  run.facts["cache.l3.size"] = {64 * mib, Unit::byte, "test"};
  run.facts["cache.l1d.shared_by"] = {1, Unit::one, "test"};
  run.facts["cache.l2.shared_by"] = {1, Unit::one, "test"};
  run.facts["cache.l3.shared_by"] = {2, Unit::one, "test"};
  return run;
}

// Doubling footprints from 4 KiB on with these latencies in ns.
void add_chase(Run& run, const std::vector<double>& ns, const std::string& page = "huge") {
  double footprint = 4 * kib;
  for (const double value : ns) {
    add(run, "latency.chase", {{"footprint", footprint}, {"page", page}}, value * 1e-9);
    footprint *= 2;
  }
}

// 4 .. 32 KiB L1, 64 KiB .. 1 MiB L2, 4 .. 32 MiB L3, 128 MiB .. 1 GiB DRAM
const std::vector<double> clean{1, 1, 1, 1, 4, 4, 4, 4, 4, 8, 20, 20, 20, 20, 60, 90, 90, 90, 90};

Machine calibrate_one(const Run& run) { return calibrate({&run, 1}); }

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
  run.measurements.back().verdict = Verdict::unstable;
  const Machine machine = calibrate_one(run);
  const Parameter& l2 = machine.parameters.at("latency.l2.hit");
  EXPECT_NEAR(*l2.value, 4e-9, 1e-15);
  EXPECT_NE(l2.reason.find("left out: latency.chase/footprint=262144"), std::string::npos)
      << l2.reason;
  const Parameter& fork_join = machine.parameters.at("launch.fork_join");
  EXPECT_EQ(fork_join.status, Status::not_measured);
  EXPECT_NE(fork_join.reason.find("unstable"), std::string::npos);
  for (const Curve& curve : machine.curves) {
    for (const CurvePoint& point : curve.points) EXPECT_LT(point.y, 1);
  }
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
