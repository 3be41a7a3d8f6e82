// SPDX-License-Identifier: Apache-2.0
// Copyright the warpmeter authors
#include "model/predict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/bandwidth.h"
#include "model/p_norm.h"
#include "model/resources.h"
#include "tests/model/planted.h"

namespace warpmeter {
namespace {

// 200 us of f32 and 100 us of reading at 20 GB/s (2 MB of a set beyond 4 MiB).
Work busy_work() { return {{{"f32", 40e6}}, 2e6, 0, 64e6, 1}; }

double time_of(const Machine& machine, const Work& work, const Parameters& parameters) {
  const Prediction prediction = predict(machine, work, parameters);
  EXPECT_TRUE(prediction.time_s) << prediction.reason;
  return prediction.time_s.value_or(NAN);
}

Machine ready_machine(double p, double overhead_s = 0, double share = 0) {
  Machine machine = planted_machine();
  set_overlap(machine, p);
  set_overhead(machine, "norm", overhead_s, share);
  return machine;
}

TEST(PNorm, IsTheSumAtOneAndTheMaximumAtInfinity) {
  const std::vector<double> times{3e-6, 4e-6, 0};
  EXPECT_NEAR(p_norm(times, 1.0), 7e-6, 1e-18);
  EXPECT_NEAR(p_norm(times, 0.5), 5e-6, 1e-18);  // 3, 4, 5
  EXPECT_NEAR(p_norm(times, 1e-3), 4e-6, 1e-18);
  EXPECT_EQ(p_norm(std::vector<double>{}, 1.0), 0);
}

TEST(Predict, AddsLaunchOverheadAndThePNormOfTheResources) {
  const Parameters parameters = kernel_parameters("norm");
  EXPECT_NEAR(time_of(ready_machine(1), busy_work(), parameters), 2e-6 + 300e-6, 1e-12);
  EXPECT_NEAR(time_of(ready_machine(2), busy_work(), parameters),
              2e-6 + std::sqrt(200.0 * 200 + 100 * 100) * 1e-6, 1e-12);
  EXPECT_NEAR(time_of(ready_machine(1e4), busy_work(), parameters), 2e-6 + 200e-6, 1e-9);
  Work twice = busy_work();
  twice.launches = 2;
  EXPECT_NEAR(time_of(ready_machine(1, 5e-6, 0.1), twice, parameters), 2 * 7e-6 + 330e-6, 1e-12);
}

TEST(Predict, PrefersTheFamilysOwnOverlap) {
  Machine machine = ready_machine(1);
  machine.parameters["model.overlap.norm"] = known(2, Unit::one);
  EXPECT_NEAR(time_of(machine, busy_work(), kernel_parameters("norm")),
              2e-6 + std::sqrt(5.0) * 100e-6, 1e-12);
}

TEST(Predict, SharesSumToOneAndNameTheBound) {
  const Prediction prediction =
      predict(ready_machine(2, 1e-6, 0.2), busy_work(), kernel_parameters("norm"));
  double sum = 0;
  for (const auto& [name, share] : prediction.shares) sum += share;
  EXPECT_NEAR(sum, 1, 1e-12);
  EXPECT_EQ(prediction.bound, "compute");
  EXPECT_NEAR(prediction.shares.at("compute") / prediction.shares.at("memory.dram"), 4, 1e-9);
  Work tiny{{{"f32", 1e3}}, 4096, 0, 4096, 1};
  EXPECT_EQ(predict(ready_machine(2), tiny, kernel_parameters("norm")).bound, "launch");
}

TEST(Predict, OneThreadUsesTheCeilingsOfOneCoreAndLaunchesNothing) {
  Parameters parameters = kernel_parameters("norm");
  parameters["threads"] = 1.0;
  EXPECT_NEAR(time_of(ready_machine(1), busy_work(), parameters), 600e-6, 1e-12);
}

TEST(Predict, TypesOfAHostShareItsVectorPorts) {
  // 100 us of f32, 100 us of bf16, 100 us of exponentials at 40 f32 operations each.
  const Work work{{{"f32", 20e6}, {"bf16", 40e6}, {"exp", 0.5e6}}, 0, 0, 0, 1};
  EXPECT_NEAR(time_of(ready_machine(8), work, kernel_parameters("norm")), 302e-6, 1e-12);
  Machine with_exp = ready_machine(8);
  with_exp.parameters["throughput.exp.device"] = known(1e10, Unit::op_per_second);
  EXPECT_NEAR(time_of(with_exp, work, kernel_parameters("norm")), 252e-6, 1e-12);
}

TEST(Predict, BandwidthIsThatOfTheFootprint) {
  const auto read = [&](double working_set) {
    const Work work{{}, 1e6, 0, working_set, 1};
    return time_of(ready_machine(1), work, kernel_parameters("norm")) - 2e-6;
  };
  EXPECT_NEAR(read(1024), 1e-6, 1e-12);  // before the first point: inside the first level
  EXPECT_NEAR(read(32768), 1e-6, 1e-12);
  EXPECT_NEAR(read(1e6), 10e-6, 1e-12);
  EXPECT_NEAR(read(64e6), 50e-6, 1e-12);
  EXPECT_NEAR(read(4e9), 50e-6, 1e-12);  // beyond the curve: bandwidth.dram.read.device
}

TEST(Predict, FootprintsBetweenPointsAreInterpolatedInLogarithms) {
  Machine machine = ready_machine(1);
  machine.curves.clear();
  Curve curve;
  curve.quantity = "bandwidth.read";
  curve.parameters = {{"threads", 2.0}};
  curve.x_name = "footprint";
  curve.points = {{1e4, 400e9, {}}, {1e6, 100e9, {}}};
  machine.curves.push_back(curve);
  const Work work{{}, 1e6, 0, 1e5, 1};
  EXPECT_NEAR(time_of(machine, work, kernel_parameters("norm")), 2e-6 + 1e6 / 200e9, 1e-12);
}

TEST(Predict, ColdOperandsComeFromDram) {
  Parameters parameters = kernel_parameters("norm");
  parameters["residency"] = std::string("cold");
  const Work work{{}, 1e6, 0, 32768, 1};
  const Prediction prediction = predict(ready_machine(1), work, parameters);
  EXPECT_NEAR(*prediction.time_s, 52e-6, 1e-12);
  EXPECT_EQ(prediction.bound, "memory.dram");
}

TEST(Predict, WrittenBytesMoveTheMixFromReadOverTriadToCopy) {
  const auto memory = [&](double read, double written) {
    const Work work{{}, read, written, 64e6, 1};
    return time_of(ready_machine(1), work, kernel_parameters("norm")) - 2e-6;
  };
  EXPECT_NEAR(memory(1e6, 1e6), 2e6 / 10e9, 1e-12);  // copy
  EXPECT_NEAR(memory(2e6, 1e6), 3e6 / 15e9, 1e-12);  // triad
  // One sixth written: half way between read and triad in time per byte.
  EXPECT_NEAR(memory(5e6, 1e6), 6e6 * 0.5 * (1 / 20e9 + 1 / 15e9), 1e-12);
}

TEST(Predict, NamesWhatIsMissingInsteadOfGuessing) {
  const Machine whole = ready_machine(2);
  const Work work{{{"f32", 1e6}}, 1e6, 1e6, 64e6, 1};
  for (const std::string name :
       {"throughput.fma.f32.device.sustained", "launch.fork_join", "model.overlap",
        "model.overhead.norm", "model.overhead.norm.share"}) {
    Machine machine = whole;
    machine.parameters.erase(name);
    const Prediction prediction = predict(machine, work, kernel_parameters("norm"));
    EXPECT_FALSE(prediction.time_s) << name;
    ASSERT_EQ(prediction.missing.size(), 1u) << name;
    EXPECT_EQ(prediction.missing[0], name);
    EXPECT_NE(prediction.reason.find(name), std::string::npos);
  }
  Work int8 = work;
  int8.ops = {{"int8", 1e6}};
  EXPECT_FALSE(predict(whole, int8, kernel_parameters("norm")).time_s);
  Machine no_memory = whole;
  no_memory.curves.clear();
  for (const std::string mix : {"read", "triad", "copy"}) {
    no_memory.parameters.erase("bandwidth.dram." + mix + ".device");
  }
  EXPECT_EQ(predict(no_memory, work, kernel_parameters("norm")).missing,
            std::vector<std::string>{"bandwidth.dram.read.device"});
  Parameters three = kernel_parameters("norm");
  three["threads"] = 3.0;
  Machine four_cores = whole;
  four_cores.facts["cpu.cores"].value = 4;
  EXPECT_FALSE(predict(four_cores, work, three).time_s);
  three.erase("threads");
  EXPECT_FALSE(predict(whole, work, three).time_s);
}

TEST(Predict, MoreWrittenThanAnyMeasuredMixIsMissing) {
  Machine machine = ready_machine(2);
  std::erase_if(machine.curves, [](const Curve& c) { return c.quantity != "bandwidth.read"; });
  machine.parameters.erase("bandwidth.dram.copy.device");
  machine.parameters.erase("bandwidth.dram.triad.device");
  EXPECT_FALSE(predict(machine, {{}, 9e5, 1e5, 64e6, 1}, kernel_parameters("norm")).time_s);
  EXPECT_TRUE(predict(machine, {{}, 97e4, 3e4, 64e6, 1}, kernel_parameters("norm")).time_s);
}

TEST(Predict, MoreOfAnyCeilingIsNeverSlower) {
  const Work works[] = {busy_work(),
                        {{{"bf16", 1e9}, {"exp", 1e4}}, 1e5, 3e4, 1.3e5, 3},
                        {{{"f32", 1e3}}, 3e4, 3e4, 6e4, 1}};
  for (const Work& work : works) {
    for (const double p : {1.0, 2.0, 5.0, 64.0}) {
      const Machine machine = ready_machine(p, 1e-6, 0.3);
      const double before = time_of(machine, work, kernel_parameters("norm"));
      for (const auto& [name, parameter] : machine.parameters) {
        if (!name.starts_with("throughput") && !name.starts_with("bandwidth")) continue;
        Machine faster = machine;
        *faster.parameters[name].value *= 1.7;
        EXPECT_LE(time_of(faster, work, kernel_parameters("norm")), before * (1 + 1e-12)) << name;
      }
      for (std::size_t i = 0; i < machine.curves.size(); ++i) {
        Machine faster = machine;
        for (CurvePoint& point : faster.curves[i].points) point.y *= 1.7;
        EXPECT_LE(time_of(faster, work, kernel_parameters("norm")), before * (1 + 1e-12));
      }
    }
  }
}

TEST(Predict, GpuResourcesOverlapAndTensorTypesUseTheTensorPipe) {
  Machine gpu;
  gpu.device = "cuda:0";
  gpu.parameters["throughput.mma.bf16.device"] = known(400e12, Unit::op_per_second);
  gpu.parameters["throughput.fma.bf16.device.sustained"] = known(40e12, Unit::op_per_second);
  gpu.parameters["throughput.fma.f32.device.sustained"] = known(20e12, Unit::op_per_second);
  gpu.parameters["bandwidth.dram.read.device"] = known(2e12, Unit::byte_per_second);
  gpu.parameters["launch.stream"] = known(2e-6, Unit::second);
  set_overlap(gpu, 2);
  set_overhead(gpu, "gemm.prefill", 0, 0);
  set_overhead(gpu, "softmax", 0, 0);
  const Work work{{{"bf16", 1.2e9}, {"f32", 80e6}}, 0, 0, 0, 1};  // 3 us tensor, 4 us f32
  EXPECT_NEAR(time_of(gpu, work, {{"family", std::string("gemm.prefill")}}), 7e-6, 1e-12);
  const Work exponentials{{{"exp", 1.25e6}}, 4e6, 0, 1e9, 1};  // 1 us, and 2 us of memory
  const Prediction softmax = predict(gpu, exponentials, {{"family", std::string("softmax")}});
  EXPECT_NEAR(*softmax.time_s, 2e-6 + std::sqrt(5.0) * 1e-6, 1e-12);
  EXPECT_EQ(softmax.shares.count("exp"), 1u);
  gpu.parameters.erase("throughput.mma.bf16.device");
  EXPECT_EQ(predict(gpu, work, {{"family", std::string("gemm.prefill")}}).missing,
            std::vector<std::string>{"throughput.mma.bf16.device"});
}

}  // namespace
}  // namespace warpmeter
