// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include <gtest/gtest.h>

#include "calibrator/calibrate.h"
#include "core/error.h"

namespace warpmeter {
namespace {

void publish(Run& run, const std::string& quantity, Parameters parameters,
             const std::string& source, double value, Unit unit) {
  parameters["source"] = source;
  Measurement measurement;
  measurement.id = measurement_id(quantity, parameters);
  measurement.quantity = quantity;
  measurement.parameters = parameters;
  measurement.value = value;
  measurement.unit = unit;
  measurement.method = "printed";
  run.measurements.push_back(std::move(measurement));
}

Run published() {
  Run run;
  run.source = Source::published;
  run.device = "NVIDIA Test";
  return run;
}

TEST(Published, SeveralValuesGiveTheirMedianAndRange) {
  warpmeter::Run run = published();
  publish(run, "bandwidth.dram.read.device", {}, "a", 2.0e12, Unit::byte_per_second);
  publish(run, "bandwidth.dram.read.device", {}, "b", 2.4e12, Unit::byte_per_second);
  publish(run, "bandwidth.dram.read.device", {}, "c", 2.1e12, Unit::byte_per_second);
  publish(run, "clock.sm", {}, "a", 1.4e9, Unit::hertz);
  const Machine machine = calibrate({&run, 1});
  EXPECT_EQ(machine.source, Source::published);
  const Parameter& read = machine.parameters.at("bandwidth.dram.read.device");
  EXPECT_EQ(read.status, Status::published);
  EXPECT_EQ(read.value, 2.1e12);
  EXPECT_EQ(read.interval, (Interval{2.0e12, 2.4e12}));
  EXPECT_NE(read.reason.find("conditions differ"), std::string::npos);
  EXPECT_EQ(read.evidence.size(), 3u);
  const Parameter& clock = machine.parameters.at("clock.sm");
  EXPECT_EQ(clock.value, 1.4e9);
  EXPECT_FALSE(clock.interval);
  EXPECT_EQ(clock.method, "printed");
}

TEST(Published, MissingParametersSayThatNoSourceStatesThem) {
  warpmeter::Run run = published();
  publish(run, "clock.sm", {}, "a", 1.4e9, Unit::hertz);
  const Machine machine = calibrate({&run, 1});
  const Parameter& launch = machine.parameters.at("launch.graph");
  EXPECT_EQ(launch.status, Status::not_measured);
  EXPECT_EQ(launch.reason, "no source in the runs states it");
  for (const auto& [name, parameter] : machine.parameters) {
    EXPECT_TRUE(parameter.status == Status::published || !parameter.value) << name;
  }
}

TEST(Published, ACurveIsFittedByTheSameEstimatorAndJoinsTheScalars) {
  warpmeter::Run run = published();
  double footprint = 4096;
  for (const double ns :
       {25., 25., 25., 25., 90., 140., 140., 140., 140., 300., 400., 400., 400.}) {
    publish(run, "latency.chase", {{"footprint", footprint}}, "curve", ns * 1e-9, Unit::second);
    publish(run, "latency.chase.cycles", {{"footprint", footprint}}, "cycles", ns, Unit::cycle);
    footprint *= 2;
  }
  publish(run, "latency.l2.hit", {}, "paper", 150e-9, Unit::second);
  const Machine machine = calibrate({&run, 1});
  const Parameter& l2 = machine.parameters.at("latency.l2.hit");
  EXPECT_NEAR(*l2.value, 145e-9, 1e-12);
  EXPECT_NEAR(l2.interval->lo, 140e-9, 1e-12);
  EXPECT_NEAR(l2.interval->hi, 150e-9, 1e-12);
  EXPECT_EQ(l2.status, Status::published);
  EXPECT_NEAR(*machine.parameters.at("latency.l1.hit").value, 25e-9, 1e-12);
  const Parameter& cycles = machine.parameters.at("latency.l2.hit.cycles");
  EXPECT_NEAR(*cycles.value, 140, 1e-6);
  EXPECT_EQ(cycles.unit, Unit::cycle);
  EXPECT_EQ(machine.parameters.at("capacity.l1").interval, (Interval{32768, 131072}));
  EXPECT_EQ(machine.curves.size(), 2u);
}

TEST(Published, AValueInAnotherUnitIsNamedAndLeftOut) {
  warpmeter::Run run = published();
  publish(run, "latency.fma.f32", {}, "a", 2e-9, Unit::second);
  publish(run, "latency.fma.f32", {}, "b", 2.2e-9, Unit::second);
  publish(run, "latency.fma.f32", {}, "c", 4, Unit::cycle);
  const Parameter fma = calibrate({&run, 1}).parameters.at("latency.fma.f32");
  EXPECT_DOUBLE_EQ(*fma.value, 2.1e-9);
  EXPECT_NE(fma.reason.find("source=c (in cycle)"), std::string::npos) << fma.reason;
}

TEST(Published, ShapesAndCurvesAreNoParameters) {
  warpmeter::Run run = published();
  publish(run, "throughput.gemm", {{"m", 1.0}}, "a", 1e14, Unit::op_per_second);
  publish(run, "collective.time", {{"size", 8.0}}, "a", 1e-5, Unit::second);
  const Machine machine = calibrate({&run, 1});
  EXPECT_FALSE(machine.parameters.contains("throughput.gemm"));
  EXPECT_FALSE(machine.parameters.contains("collective.time"));
}

TEST(Published, DoesNotMixWithMeasured) {
  warpmeter::Run measured = published();
  measured.source = Source::measured;
  EXPECT_THROW(calibrate(std::vector{published(), measured}), InputError);
}

TEST(Published, RecordedGpusGiveMachines) {
  for (const char* gpu : {"v100", "a100", "h100_sxm", "h200", "rtx4090"}) {
    SCOPED_TRACE(gpu);
    const warpmeter::Run run = load_run(std::string(WARPMETER_PUBLISHED) + "/" + gpu + ".run.json");
    const Machine machine = calibrate({&run, 1});
    int known = 0, missing = 0;
    for (const auto& [name, parameter] : machine.parameters) {
      ASSERT_TRUE(parameter.status == Status::published || !parameter.value) << name;
      EXPECT_TRUE(parameter.value || !parameter.reason.empty()) << name;
      (parameter.value ? known : missing) += 1;
      for (const std::string& id : parameter.evidence) {
        EXPECT_TRUE(find(run, id) != nullptr) << id;
      }
    }
    EXPECT_GT(known, 5);
    EXPECT_GT(missing, 5);
  }
}

}  // namespace
}  // namespace warpmeter
