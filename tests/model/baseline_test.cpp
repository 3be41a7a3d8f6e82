// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/baseline.h"

#include <gtest/gtest.h>

#include "model/roofline.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

Fact flag(bool value) { return {value, std::nullopt, "planted"}; }

Machine host(const std::string& model) {
  Machine machine = planted_machine();
  machine.facts["cpu.model"] = {model, std::nullopt, "planted"};
  machine.facts["cpu.isa.fma"] = flag(true);
  return machine;
}

std::string all_notes(const Nameplate& plate) {
  std::string text;
  for (const std::string& note : plate.notes) text += note + "\n";
  return text;
}

TEST(Nameplate, HostPeakIsCoresTimesClockTimesWidth) {
  Machine machine = host("Xeon(R) Gold 6140 CPU @ 2.30GHz");
  EXPECT_NEAR(nameplate_of(machine).peak.at("f32"), 2.3e9 * 32, 1);  // two 256-bit units
  machine.facts["cpu.isa.avx512f"] = flag(true);
  const Nameplate plate = nameplate_of(machine);
  EXPECT_NEAR(plate.peak.at("f32"), 2.3e9 * 64, 1);
  EXPECT_NEAR(plate.peak.at("f64"), 2.3e9 * 32, 1);
  EXPECT_FALSE(plate.peak.contains("bf16"));
  machine.facts["cpu.isa.avx512_bf16"] = flag(true);
  EXPECT_NEAR(nameplate_of(machine).peak.at("bf16"), 2.3e9 * 128, 1);
  // 14.72 Gop at 2 x 147.2 Gop/s; one thread has one core.
  const Work work{{{"f32", 14.72e9}, {"exp", 1e12}}, 0, 0, 0, 1};
  EXPECT_NEAR(*roofline_time(plate, work, {{"threads", 2.0}}), 0.05, 1e-9);
  EXPECT_NEAR(*roofline_time(plate, work, {{"threads", 1.0}}), 0.1, 1e-9);
}

TEST(Nameplate, SaysWhatStandsInForWhat) {
  Machine machine = host("Xeon(R) Processor");
  EXPECT_TRUE(nameplate_of(machine).peak.empty());
  machine.parameters["clock.core.vector"] = known(2.6e9, Unit::hertz);
  const Nameplate plate = nameplate_of(machine);
  EXPECT_NEAR(plate.peak.at("f32"), 2.6e9 * 32, 1);
  EXPECT_NE(all_notes(plate).find("clock.core.vector"), std::string::npos);
  EXPECT_NEAR(*plate.bandwidth, 20e9, 1);
  EXPECT_NE(all_notes(plate).find("bandwidth.dram.read.device stands in"), std::string::npos);
  machine.facts["memory.bandwidth"] = {100e9, Unit::byte_per_second, "data sheet"};
  EXPECT_NEAR(*nameplate_of(machine).bandwidth, 100e9, 1);
}

TEST(Nameplate, RooflineIsTheSlowerOfComputeAndMemoryOrUnknown) {
  Nameplate plate;
  plate.peak["f32"] = 1e12;
  plate.bandwidth = 1e11;
  EXPECT_NEAR(*roofline_time(plate, {{{"f32", 1e9}}, 3e8, 1e8, 0, 1}, {}), 4e-3, 1e-12);
  EXPECT_NEAR(*roofline_time(plate, {{{"f32", 1e10}}, 3e8, 1e8, 0, 1}, {}), 1e-2, 1e-12);
  EXPECT_FALSE(roofline_time(plate, {{{"bf16", 1}}, 0, 0, 0, 1}, {}));
  plate.bandwidth.reset();
  EXPECT_FALSE(roofline_time(plate, {{{"f32", 1e9}}, 3e8, 1e8, 0, 1}, {}));
}

TEST(Nameplate, GpuPeaksComeFromFacts) {
  Machine gpu;
  gpu.device = "cuda:0";
  gpu.facts["peak.bf16"] = {100e12, Unit::op_per_second, "data sheet"};
  gpu.facts["peak.bf16.tensor"] = {900e12, Unit::op_per_second, "data sheet"};
  gpu.facts["memory.bandwidth"] = {3e12, Unit::byte_per_second, "data sheet"};
  EXPECT_NEAR(nameplate_of(gpu).peak.at("bf16"), 900e12, 1);
  EXPECT_NEAR(*roofline_time(nameplate_of(gpu), {{{"bf16", 9e12}}, 3e9, 0, 0, 1}, {}), 1e-2, 1e-9);
}

TEST(MeanTimes, AreGeometricMeansOfUsableFittingRows) {
  warpmeter::Run run;
  run.measurements = {kernel_row("norm", "fit", 1, 10e-6, {}),
                      kernel_row("norm", "fit", 2, 1e-3, {}),
                      kernel_row("norm", "held_out", 3, 1, {}),
                      kernel_row("gemm", "fit", 1, 2e-3, {}), kernel_row("gemm", "fit", 2, 1, {})};
  run.measurements[4].verdict = Verdict::throttled;
  const std::map<std::string, double> means = mean_times(run);
  ASSERT_EQ(means.size(), 2u);
  EXPECT_NEAR(means.at("norm"), 100e-6, 1e-12);
  EXPECT_NEAR(means.at("gemm"), 2e-3, 1e-12);
}

TEST(Roofline, HasDeviceCeilingsAndOnePointPerUsableKernel) {
  Machine machine = planted_machine();
  machine.parameters["throughput.fma.f32.device.sustained"] =
      known(200e9, Unit::op_per_second, {190e9, 210e9});
  set_overlap(machine, 2);
  set_overhead(machine, "softmax", 0, 0);
  warpmeter::Run run;
  const Work work{{{"f32", 6e6}, {"exp", 1e5}}, 3e6, 1e6, 64e6, 1};  // 10 Mop with exp at 40
  run.measurements = {kernel_row("softmax", "held_out", 1, 1e-3, work),
                      kernel_row("gather", "fit", 2, 1e-3, {{}, 1e6, 0, 1e6, 1}),
                      kernel_row("softmax", "fit", 3, 1e-3, work)};
  run.measurements[0].interval = Interval{0.8e-3, 1.25e-3};
  run.measurements[2].verdict = Verdict::unstable;
  const Roofline roofline = roofline_of(machine, run);
  ASSERT_EQ(roofline.points.size(), 1u);
  EXPECT_NEAR(roofline.points[0].intensity, 2.5, 1e-12);
  EXPECT_NEAR(roofline.points[0].ops_per_s, 1e10, 1e-3);
  EXPECT_NEAR(roofline.points[0].interval->lo, 0.8e10, 1e-3);
  EXPECT_NEAR(roofline.points[0].interval->hi, 1.25e10, 1e-3);
  EXPECT_EQ(roofline.points[0].bound, "memory.dram");
  std::map<std::string, double> ceilings;
  for (const RooflineCeiling& c : roofline.ceilings) ceilings[c.name] = c.value;
  EXPECT_EQ(ceilings.size(), 4u);  // f32, bf16, f64, dram read
  EXPECT_EQ(ceilings.at("throughput.fma.f32.device.sustained"), 200e9);
  EXPECT_EQ(ceilings.at("bandwidth.dram.read.device"), 20e9);
}

}  // namespace
}  // namespace warpmeter
